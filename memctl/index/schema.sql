-- The index: derived from the Markdown, rebuilt whenever this file or the parser changes. Delete it at any moment.

CREATE TABLE page (
    id        INTEGER PRIMARY KEY,      -- from the path alone (index/rows.py), so row ids are the same after a rebuild
    path      TEXT NOT NULL UNIQUE,     -- in the workspace, forward slashes
    day       TEXT,                     -- of a daily log
    title     TEXT NOT NULL,            -- of the page: `_page_title` in index/rows.py
    entries   INTEGER NOT NULL,         -- how many rows below belong to it,
    aside     INTEGER NOT NULL,         -- and how many of these memctl wrote: they count in no judgement
    terms     INTEGER NOT NULL,         -- the sum of their lengths
    embedded  INTEGER NOT NULL,         -- how many of them have vectors, once they are made (vectors/embed.py)
    rows_sum  BLOB NOT NULL,            -- hash of those rows, of this one and of its names: tells damage that SQLite does not see
    size      INTEGER NOT NULL,         -- the fingerprint: bytes,
    mtime_ns  INTEGER NOT NULL,         --   modification time,
    inode     INTEGER NOT NULL,         --   file number,
    sha256    BLOB NOT NULL,            --   content,
    looked_ns INTEGER NOT NULL,         --   and when we looked: an mtime within 2 s of that proves nothing
    problem   TEXT                      -- why it could not be read, or what was odd about it
);

CREATE TABLE entry (
    id          INTEGER PRIMARY KEY,    -- page << 22 | ordinal: neighbours on the page are neighbours here
    page        INTEGER NOT NULL,       -- the page that it stands on
    ref         TEXT NOT NULL,          -- f-1a2b3c4d, or the author's own block id
    role        TEXT NOT NULL,          -- fact, text, item, row, heading, code, rest
    kind        TEXT NOT NULL,          -- world, experience, opinion, observation, note
    line        INTEGER NOT NULL,       -- 1-based
    end_line    INTEGER NOT NULL,       -- included
    heading     TEXT NOT NULL,          -- nearest above
    day         TEXT,                   -- when it was written down
    first       TEXT,                   -- valid time, both ends included; NULL is open
    last        TEXT,                   -- ditto
    slot        TEXT,                   -- key=, or the single-valued relation that the text states (language/relations.py)
    same        INTEGER NOT NULL,       -- equal for lines that give a slot the same value
    marked      INTEGER NOT NULL,       -- in a slot: 1 corrects what held (language/sentences.py) instead of ending it, 2 pinned, 4 closes nothing; 8 tells what happened, 16 names a day on which no state begins, 48 that of an end, their sum
    confidence  REAL,                   -- as written; never what reflect makes of it
    importance  REAL,                   -- as written
    origin      TEXT NOT NULL,          -- owner, or src=
    private     INTEGER NOT NULL,       -- never to leave this machine through a server
    block       TEXT,                   -- name of the managed block that holds this copy; `evidence` under a belief
    digest      INTEGER NOT NULL,       -- of the raw lines: tells whether a citation still holds
    content_key INTEGER NOT NULL,       -- equal for twins
    length      INTEGER NOT NULL,       -- terms in `words`
    names       TEXT NOT NULL,          -- keys of explicitly named entities, a line each
    links       TEXT NOT NULL,          -- "relation target", a line each
    task        TEXT,                   -- of a fact with an outcome: what was attempted, folded; NULL for all others
    kept        TEXT,                   -- the last day on which a fact with a `ttl=` is to be kept; NULL for all others
    due         TEXT                    -- of what was told before its day: that day, or the last of them; NULL for all others
);
CREATE INDEX entry_page ON entry (page);
CREATE INDEX entry_ref ON entry (ref);
CREATE INDEX entry_day ON entry (day);
CREATE INDEX entry_private ON entry (id) WHERE private = 1;
CREATE INDEX entry_task ON entry (task) WHERE task IS NOT NULL;
CREATE INDEX entry_kept ON entry (kept) WHERE kept IS NOT NULL;
CREATE INDEX entry_due ON entry (due) WHERE due IS NOT NULL;
CREATE INDEX entry_said ON entry (first, last) WHERE first IS NOT day OR last IS NOT NULL;

-- Lines of a person: no copies in managed blocks, no evidence under beliefs, no tombstones. Trusted are those of the owner,
-- of an agent, or without an origin (facts.is_trusted). The heads of beliefs in bank/opinions.md are no facts: they repeat them.
CREATE VIEW live AS SELECT *, origin NOT IN ('tool', 'web', 'import')
    AND origin NOT LIKE 'tool:%' AND origin NOT LIKE 'web:%' AND origin NOT LIKE 'import:%' AS is_trusted,
    role = 'fact' AND page IS NOT (SELECT id FROM page WHERE path = 'bank/opinions.md') AS is_fact
    FROM entry WHERE block IS NULL;
CREATE VIEW trusted AS SELECT * FROM live WHERE is_trusted;
CREATE VIEW outside AS SELECT * FROM live WHERE NOT is_trusted;
CREATE VIEW facts AS SELECT * FROM live WHERE is_fact;
CREATE VIEW public AS SELECT * FROM live WHERE private = 0;

-- Live lines that say something by themselves: no headings, no code, no front matter. Those that speak are not memctl's own.
CREATE VIEW statement AS SELECT * FROM live WHERE role IN ('fact', 'text', 'item', 'row');
CREATE VIEW speaking AS SELECT * FROM statement WHERE kind <> 'observation' AND (is_fact OR role <> 'fact');

-- Live lines that have vectors: headings stand with each of their lines, front matter says little.
CREATE VIEW embeddable AS SELECT * FROM live WHERE role NOT IN ('heading', 'rest');

-- Facts that may move a belief or enter a page of bank/: trusted, public, and no summary by memctl.
CREATE VIEW countable AS SELECT * FROM public WHERE is_fact AND is_trusted AND kind <> 'observation';

-- Ids that others may not read: of private lines; and where there are such, those that evidence or a copy by memctl cites and no
-- line has, until reflect has seen that: as a line was made private it may have been put in other words, or on another day.
CREATE VIEW hidden AS SELECT ref FROM entry WHERE private = 1 UNION
    SELECT target FROM link WHERE EXISTS (SELECT 1 FROM entry WHERE private = 1) AND target <> '-'
    AND relation IN ('stated', 'weighed', 'ended', 'questioned', 'copies')
    AND NOT EXISTS (SELECT 1 FROM entry WHERE ref = target AND block IS NULL);

CREATE TABLE mention (                  -- entry.names, one row a name
    name  TEXT NOT NULL,                -- key of the name as written there
    entry INTEGER NOT NULL,
    PRIMARY KEY (name, entry)
) WITHOUT ROWID;

CREATE TABLE link (                     -- entry.links, one row a link
    target   TEXT NOT NULL,             -- an id
    relation TEXT NOT NULL,             -- supports, refutes, supersedes, corrects, settles, by; of evidence under a belief: stated, weighed, ended,
                                        -- questioned, gone; kept from a note; of what memctl copied from lines: copies
                                        -- of tags: tag #key, tags #key for the whole page; of links to a file: leads [key (index/rows.py)
    entry    INTEGER NOT NULL,
    PRIMARY KEY (target, relation, entry)
) WITHOUT ROWID;

CREATE TABLE slot (                     -- facts that fill a slot, by whom they are about
    key     TEXT NOT NULL,              -- as in key=
    name    TEXT NOT NULL,              -- key of the first name on the line; empty without one
    first   TEXT NOT NULL,              -- entry.first, empty where that is open: versions stand in their order
    entry   INTEGER NOT NULL,           -- its row
    trusted INTEGER NOT NULL,           -- by its origin: only these replace others
    same    INTEGER NOT NULL,           -- entry.same: a repetition replaces nothing
    marked  INTEGER NOT NULL,           -- entry.marked: where it is not 0, the order of versions does not decide alone
    PRIMARY KEY (key, name, first, entry)
) WITHOUT ROWID;
CREATE INDEX slot_marked ON slot (key, name) WHERE marked;

CREATE TABLE naming (                   -- one per page under bank/entities, and per note elsewhere with other names
    page INTEGER PRIMARY KEY,
    key  TEXT NOT NULL,                 -- of the name
    name TEXT NOT NULL,                 -- as a person writes it
    type TEXT,
    note INTEGER NOT NULL               -- 1 elsewhere
);
CREATE INDEX naming_key ON naming (key);
-- Of pages with one name, those that are made for that count; of notes none, for there are many called "index".
CREATE VIEW entity AS SELECT page, key, name, type FROM naming AS own WHERE NOT note
    OR NOT EXISTS (SELECT 1 FROM naming WHERE naming.key = own.key AND naming.page <> own.page);
CREATE TABLE named (                    -- every name that a page gives to its entity, its own included
    key  TEXT NOT NULL,
    page INTEGER NOT NULL,
    head TEXT NOT NULL,                 -- its first word stemmed, or first Han character: the way in from running text
    stem TEXT NOT NULL,                 -- its words stemmed: meets the inflected name
    name TEXT NOT NULL,
    outside INTEGER NOT NULL,           -- 1 on a page that came from outside
    PRIMARY KEY (key, page)
) WITHOUT ROWID;
CREATE INDEX named_head ON named (head);
CREATE INDEX named_page ON named (page);
-- The names that hold: a page from outside does not say whom a name means that the owner uses.
CREATE VIEW alias AS SELECT * FROM named WHERE EXISTS (SELECT 1 FROM entity WHERE entity.page = named.page)
    AND (NOT outside OR NOT (key IN (SELECT key FROM named WHERE NOT outside)
    OR EXISTS (SELECT 1 FROM mention JOIN trusted ON trusted.id = mention.entry WHERE mention.name = named.key)));

-- Pages of entities that say nothing but their title, beside copies, and that no line names which all may see: their names may
-- be those of private lines alone. A belief in bank/opinions.md is made of another line.
CREATE VIEW unnamed AS SELECT path FROM page WHERE id IN (SELECT page FROM naming WHERE NOT note)
    AND NOT EXISTS (SELECT 1 FROM public WHERE public.page = page.id AND (role <> 'heading' OR heading <> title))
    AND NOT EXISTS (SELECT 1 FROM named JOIN mention ON mention.name = named.key JOIN public ON public.id = mention.entry
    WHERE named.page = page.id AND is_trusted AND (is_fact OR role <> 'fact'));

-- Terms come analysed (language/analyzer.py) and separated by spaces; every printable ASCII mark but the quotes is a letter.
-- `aside` has those of what memctl wrote, so that they can be left out of a count; of each row one of the two is empty.
CREATE VIRTUAL TABLE words USING fts5 (own, aside, tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, col);
