"""The steps that bring a history database from version n to n + 1; `user_version` counts those taken.

A step that was released is never edited: databases out there have taken it.
"""

from __future__ import annotations

VERSION_1 = """
CREATE TABLE names (              -- tasks and authors are written once, here
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE runs (               -- one row per start of training
    id         INTEGER PRIMARY KEY,
    started    REAL NOT NULL,
    seed       INTEGER NOT NULL,
    model_hash TEXT NOT NULL,
    manifest   TEXT NOT NULL      -- worker/store/manifest.py, JSON
);
CREATE TABLE rounds (             -- one row per finished round
    id              INTEGER PRIMARY KEY,
    run             INTEGER NOT NULL REFERENCES runs (id),
    round           INTEGER NOT NULL,
    lost            INTEGER NOT NULL DEFAULT 0,   -- 1: after the checkpoint training resumed from
    pruned          INTEGER NOT NULL DEFAULT 0,   -- 1: only a sample of its answers is left
    finished        REAL NOT NULL,
    checkpoint      INTEGER,
    reward          REAL NOT NULL,
    solved          REAL NOT NULL,
    partial         REAL NOT NULL,
    swarm_reward    REAL,
    local_groups    INTEGER NOT NULL,
    external_groups INTEGER NOT NULL,
    seconds         REAL NOT NULL,
    report          TEXT NOT NULL                 -- RoundReport as JSON, without its tasks
);
CREATE UNIQUE INDEX rounds_counted ON rounds (round) WHERE lost = 0;
CREATE INDEX rounds_unpruned ON rounds (round) WHERE pruned = 0;
CREATE TABLE task_marks (
    round_id INTEGER NOT NULL REFERENCES rounds (id),
    place    INTEGER NOT NULL,
    task     INTEGER NOT NULL REFERENCES names (id),
    answers  INTEGER NOT NULL,
    solved   REAL NOT NULL,
    partial  REAL NOT NULL,
    reward   REAL NOT NULL,
    PRIMARY KEY (round_id, place)
) WITHOUT ROWID;
CREATE TABLE groups (             -- what entered training and where it came from; never pruned
    round_id INTEGER NOT NULL REFERENCES rounds (id),
    place    INTEGER NOT NULL,
    task     INTEGER NOT NULL REFERENCES names (id),
    seed     INTEGER NOT NULL,
    origin   TEXT NOT NULL,
    author   INTEGER REFERENCES names (id),
    answers  INTEGER NOT NULL,
    PRIMARY KEY (round_id, place)
) WITHOUT ROWID;
CREATE TABLE questions (          -- pruned together with its rollouts
    round_id INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (round_id, place),
    FOREIGN KEY (round_id, place) REFERENCES groups (round_id, place)
);
CREATE TABLE rollouts (
    round_id  INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    answer    INTEGER NOT NULL,
    text      TEXT NOT NULL,
    solved    INTEGER NOT NULL,
    partial   REAL NOT NULL,
    reward    REAL NOT NULL,
    advantage REAL NOT NULL,
    verdict   TEXT NOT NULL,
    PRIMARY KEY (round_id, place, answer),
    FOREIGN KEY (round_id, place) REFERENCES questions (round_id, place) ON DELETE CASCADE
);
CREATE TABLE checkpoints (        -- what was written when, for the daily limit; also of those deleted since
    id      INTEGER PRIMARY KEY,
    number  INTEGER NOT NULL,
    round   INTEGER NOT NULL,
    written REAL NOT NULL,
    bytes   INTEGER NOT NULL
);
CREATE INDEX checkpoints_written ON checkpoints (written);
CREATE TABLE evals (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES runs (id),
    round    INTEGER NOT NULL,
    lost     INTEGER NOT NULL DEFAULT 0,
    finished REAL NOT NULL,
    which    TEXT NOT NULL,
    score    REAL NOT NULL,
    report   TEXT NOT NULL        -- EvalReport as JSON
);
"""

VERSION_2 = """
ALTER TABLE groups ADD COLUMN weight REAL;   -- sum of |advantage| over the group's answers; NULL before this version
"""

VERSION_3 = """
ALTER TABLE rollouts ADD COLUMN kind TEXT NOT NULL DEFAULT 'model';   -- who wrote the answer: model or human
"""

VERSION_4 = """
ALTER TABLE rounds ADD COLUMN swarm_low REAL;       -- what curves are drawn from without reading every report
ALTER TABLE rounds ADD COLUMN swarm_high REAL;
ALTER TABLE rounds ADD COLUMN swarm_peers INTEGER;
ALTER TABLE rounds ADD COLUMN silo INTEGER;         -- NULL before this version
CREATE TABLE tries (              -- what became of each task here, until it was first solved
    task         INTEGER PRIMARY KEY REFERENCES names (id),
    answers      INTEGER NOT NULL DEFAULT 0,
    solved       INTEGER NOT NULL DEFAULT 0,
    peer_round   INTEGER,         -- a peer's solved answer that was learned from before
    peer_author  INTEGER REFERENCES names (id),
    peer_text    TEXT,
    peer_question TEXT
);
CREATE TABLE ahas (               -- first solved here after a peer's answer had been learned from
    id           INTEGER PRIMARY KEY,
    task         INTEGER NOT NULL UNIQUE REFERENCES names (id),
    round        INTEGER NOT NULL,
    tries        INTEGER NOT NULL,
    question     TEXT NOT NULL,
    answer       TEXT NOT NULL,
    peer_round   INTEGER NOT NULL,
    peer_author  INTEGER REFERENCES names (id),
    peer_question TEXT NOT NULL,
    peer_answer  TEXT NOT NULL
);
"""

VERSION_5 = """
CREATE TABLE totals (             -- counts over all history, so that nobody has to go through it
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO totals SELECT 'rounds', count(*) FROM rounds WHERE lost = 0;
INSERT INTO totals SELECT 'answers_own', coalesce(sum(answers), 0) FROM task_marks;
INSERT INTO totals VALUES ('answers_shared', 0);   -- nobody counted them before this version
INSERT INTO totals VALUES ('used', 0);
CREATE TABLE claims (             -- what each peer said last of how many groups of ours it used
    peer TEXT PRIMARY KEY,
    used INTEGER NOT NULL,
    told REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX claims_told ON claims (told);
"""

VERSION_6 = """
CREATE INDEX task_marks_by_task ON task_marks (task, round_id);
CREATE INDEX rounds_curve ON rounds (round, reward, solved, swarm_reward, swarm_low, swarm_high, swarm_peers, silo)
    WHERE lost = 0;
-- What version 4 began to count is counted over the rounds before it too.
UPDATE rounds SET swarm_low = json_extract(report, '$.swarm_reward.low'),
    swarm_high = json_extract(report, '$.swarm_reward.high'),
    swarm_peers = json_extract(report, '$.swarm_reward.peers'),
    silo = json_extract(report, '$.silo')
    WHERE silo IS NULL AND json_valid(report);
INSERT INTO tries (task, answers, solved)
    SELECT m.task, sum(m.answers), sum(CAST(round(m.solved * m.answers) AS INTEGER))
    FROM task_marks m JOIN rounds r ON r.id = m.round_id WHERE r.lost = 0 GROUP BY m.task
    ON CONFLICT (task) DO UPDATE SET answers = excluded.answers, solved = excluded.solved;
DELETE FROM ahas WHERE EXISTS (  -- solved before that version already
    SELECT 1 FROM task_marks m JOIN rounds r ON r.id = m.round_id
    WHERE m.task = ahas.task AND r.lost = 0 AND r.round < ahas.round AND m.solved > 0
);
"""

VERSION_7 = """
INSERT INTO totals VALUES ('joules', 0);   -- what computing took, as far as it could be told
"""

VERSION_8 = """
-- Whether that peer ever said that it used any: what it used counts anew at each of its starts.
ALTER TABLE claims ADD COLUMN helped INTEGER NOT NULL DEFAULT 0;
UPDATE claims SET helped = used > 0;
"""

STEPS: tuple[str, ...] = (
    *(VERSION_1, VERSION_2, VERSION_3, VERSION_4),
    *(VERSION_5, VERSION_6, VERSION_7, VERSION_8),
)
