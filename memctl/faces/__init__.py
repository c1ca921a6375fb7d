"""How people and agents reach the verbs."""
