"""One file per verb; each reads like the sentence that specifies it."""
