-- Shared memory on PostgreSQL. Derived from the Markdown of those who publish: drop it, and let everybody publish again.
-- Each table can be distributed by workspace, which is in every key (docs/shared.md). Who may see a row is a question of its
-- team, the name of a role: whoever is a member of it.

CREATE SCHEMA memctl;

CREATE TABLE memctl.meta (
    version integer NOT NULL,                             -- of this file; server.py has the one that it speaks
    server  uuid NOT NULL DEFAULT gen_random_uuid()       -- tells this server from another at the same address
);

CREATE TABLE memctl.workspaces (
    workspace  text PRIMARY KEY,                          -- its name here
    team       text NOT NULL,
    generation uuid NOT NULL DEFAULT gen_random_uuid(),   -- another one after it was withdrawn and published again
    revision   bigint NOT NULL DEFAULT 0,                 -- one more with each publication that changed something
    removed    bigint NOT NULL DEFAULT 0,                 -- the last one in which a page went
    head       text NOT NULL DEFAULT '',                  -- the commit that it shows, if it shows one and nothing beside
    token      text NOT NULL DEFAULT '',                  -- of the publication: who made it knows it again
    analysis   bigint NOT NULL DEFAULT 0,                 -- the version that made the terms of its pages
    ttl        text NOT NULL DEFAULT '[]',                -- how long facts are kept, as JSON
    model      text NOT NULL DEFAULT '',                  -- whose vectors its pages have; empty: they have none
    means      bytea NOT NULL DEFAULT '',                 -- what that model makes of fixed sentences, by which it is known
    publisher  text NOT NULL DEFAULT current_user,
    published  timestamptz NOT NULL DEFAULT now(),        -- for people to read: nothing is decided by a clock
    UNIQUE (workspace, team)
);

CREATE TABLE memctl.pages (
    workspace text NOT NULL,
    path      text NOT NULL,
    team      text NOT NULL,
    revision  bigint NOT NULL,                            -- in which it came or changed
    digest    bytea NOT NULL,                             -- SHA-256 of the content
    content   bytea NOT NULL,                             -- the page as others may see it, UTF-8
    head      text NOT NULL,                              -- a commit that holds it; empty: none does
    terms     text[] NOT NULL,                            -- every search term of it once
    lacking   integer NOT NULL DEFAULT 0,                 -- at most so many texts of it have no vector here
    keys      bigint[] NOT NULL DEFAULT '{}',             -- hashes of those that have one,
    codes     bytea[] NOT NULL DEFAULT '{}',              -- and their vectors, 8 bits a component
    -- A page is of the team of its workspace: else a stranger's would stand among those of a name. The team is in the key, so that
    -- the row of a stranger, until it is refused, keeps nobody waiting; and deferred, for a workspace goes over to another team.
    PRIMARY KEY (workspace, path, team),
    FOREIGN KEY (workspace, team) REFERENCES memctl.workspaces (workspace, team) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX pages_revision ON memctl.pages (workspace, revision);
CREATE INDEX pages_terms ON memctl.pages USING gin (terms) WITH (fastupdate = off);

-- Where pgvector is in the database, now: its smallest type, which holds whole numbers from -128 to 127 as they are.
DO $$
DECLARE found regtype;
BEGIN
    SELECT type.oid INTO found FROM pg_extension AS its JOIN pg_depend ON refobjid = its.oid AND deptype = 'e'
    JOIN pg_type AS type ON type.oid = objid WHERE extname = 'vector' AND typname IN ('halfvec', 'vector') ORDER BY typname LIMIT 1;
    IF found IS NOT NULL THEN
        EXECUTE format('ALTER TABLE memctl.pages ALTER codes DROP DEFAULT, ALTER codes TYPE %s[] USING NULL', found);
        ALTER TABLE memctl.pages ALTER codes SET DEFAULT '{}';
    END IF;
END $$;

-- Whoever owns the tables sees all of them: let that be an administrator.
ALTER TABLE memctl.workspaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE memctl.pages ENABLE ROW LEVEL SECURITY;
-- Without a subquery, which Citus refuses; no such role, no rows.
CREATE POLICY by_team ON memctl.workspaces USING (pg_has_role(to_regrole(quote_ident(team)), 'MEMBER'));
CREATE POLICY by_team ON memctl.pages USING (pg_has_role(to_regrole(quote_ident(team)), 'MEMBER'));

-- Which workspaces hold which of these words. Under row-level security no index over arrays is used, since its operators
-- are not leakproof; so this looks as the owner (by the index: a scan unpacks every array), and answers for the teams of who asks: the role that was set, or the login.
-- pg_temp is named, and last: else what who asks has there would stand for a name in here.
CREATE FUNCTION memctl.holding(words text[]) RETURNS TABLE (workspace text, word text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    AS $$
        SELECT found.workspace, asked.word
        FROM unnest(words) AS asked (word), LATERAL (
            SELECT DISTINCT page.workspace, page.team FROM memctl.pages AS page WHERE page.terms @> ARRAY[asked.word]
        ) AS found
        WHERE pg_has_role(
            CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END,
            to_regrole(quote_ident(found.team)), 'MEMBER')
    $$;

GRANT USAGE ON SCHEMA memctl TO PUBLIC;
GRANT SELECT ON memctl.meta TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON memctl.workspaces, memctl.pages TO PUBLIC;
