import { quoted } from './schema.ts'

/** The statements of one schema. Each is one transaction of its own. */
export type Statements = Readonly<Record<StatementName, string>>

/** @throws HarnessError `BAD_DATABASE` for what cannot be the name of a schema. */
export function statementsOf(schema: string): Statements {
  const s = quoted(schema)
  // A worker lives while its lease runs and the connection is there that holds its lock. When the server itself has just come back, all
  // leases may be over and all locks are gone: each worker then has as long as a lease to return ($2, in milliseconds).
  const alive = `alive AS MATERIALIZED (
    SELECT w.n FROM ${s}.worker w WHERE pg_postmaster_start_time() > now() - $2 * interval '1 millisecond' OR (
      w.lease_until > now() AND w.n::bigint IN (
        SELECT l.objid::bigint FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
          AND l.classid = '${literal(s)}.worker'::regclass AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      )
    )
  )`
  const isFree = `(holder IS NULL OR holder = $1 OR holder NOT IN (SELECT n FROM alive))`
  return {
    space: `SELECT ('${literal(s)}.worker'::regclass::oid::bigint)::bit(32)::int AS space, '${literal(s)}.worker'::regclass::oid::int AS oid`,
    register: `INSERT INTO ${s}.worker (name, lease_until) VALUES ($1, now() + $2 * interval '1 millisecond') RETURNING n`,
    renew: `INSERT INTO ${s}.worker (n, name, lease_until) VALUES ($1, $2, now() + $3 * interval '1 millisecond')
      ON CONFLICT (n) DO UPDATE SET lease_until = excluded.lease_until RETURNING pg_backend_pid() AS pid`,
    unregister: `DELETE FROM ${s}.worker WHERE n = $1`,
    sweep: `DELETE FROM ${s}.worker w WHERE w.lease_until < now() - interval '1 hour'
      AND NOT EXISTS (SELECT FROM ${s}.session WHERE holder = w.n)`,
    epochs: `SELECT id, epoch, next_seq AS next FROM ${s}.session WHERE id = ANY($1::text[])`,
    // A row that is there and was never written to is no session: mail for an agent to come makes one.
    create: `WITH ${alive} INSERT INTO ${s}.session AS s (id, epoch, holder) VALUES ($3, 1, $1)
      ON CONFLICT (id) DO UPDATE SET epoch = s.epoch + 1, holder = $1
      WHERE s.next_seq = 0 AND (s.holder IS NULL OR s.holder = $1 OR s.holder NOT IN (SELECT n FROM alive)) RETURNING epoch`,
    load: `WITH ${alive} UPDATE ${s}.session SET epoch = epoch + 1, holder = $1
      WHERE id = $3 AND next_seq > 0 AND ${isFree} RETURNING epoch, next_seq AS next`,
    holder: `SELECT s.next_seq AS next, w.name FROM ${s}.session s LEFT JOIN ${s}.worker w ON w.n = s.holder WHERE s.id = $1`,
    events: `SELECT seq, line FROM ${s}.event WHERE session = $1 ORDER BY seq`,
    stored: `SELECT id, title, (extract(epoch FROM updated_at) * 1000)::float8 AS updated FROM ${s}.session
      WHERE next_seq > 0 ORDER BY updated_at DESC, id`,
    append: `WITH b AS (
        SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::bool[], $6::bool[], $7::text[])
          AS b (id, epoch, first, n, busy, done, title)
      ), ok AS (
        UPDATE ${s}.session s SET next_seq = b.first + b.n, busy = coalesce(b.busy, s.busy), title = coalesce(s.title, b.title),
          takeovers = CASE WHEN b.done THEN 0 ELSE s.takeovers END, parked = CASE WHEN b.done THEN NULL ELSE s.parked END,
          updated_at = now()
        FROM b WHERE s.id = b.id AND s.epoch = b.epoch AND s.next_seq = b.first RETURNING s.id
      ), written AS (
        INSERT INTO ${s}.event (session, seq, line)
        SELECT e.id, e.seq, e.line FROM unnest($8::text[], $9::int[], $10::text[]) AS e (id, seq, line) JOIN ok USING (id)
      ), taken AS (
        DELETE FROM ${s}.mail m USING unnest($11::text[], $12::text[]) AS a (id, message) JOIN ok USING (id)
        WHERE m.session = a.id AND m.message_id = a.message
      )
      SELECT id FROM ok`,
    release: `UPDATE ${s}.session SET holder = NULL WHERE id = $1 AND epoch = $2`,
    giveUp: `UPDATE ${s}.session SET holder = 0, takeovers = takeovers - busy::int WHERE id = $1 AND epoch = $2`,
    // As a dead worker would leave it.
    abandon: `UPDATE ${s}.session SET holder = 0 WHERE id = $1 AND epoch = $2`,
    abandonClaim: `UPDATE ${s}.session SET holder = 0 WHERE id = $1 AND holder = $2`,
    // A load that failed has moved the epoch of the claim by one, and given the session back.
    park: `UPDATE ${s}.session SET holder = NULL, parked = $3
      WHERE id = $1 AND (holder = $2 OR holder IS NULL) AND epoch <= $4::int + 1`,
    unpark: `UPDATE ${s}.session SET parked = NULL, takeovers = 0 WHERE id = $1`,
    // All of a dead worker's, not only those with an open turn or with mail: what it had queued for itself stands in no table.
    claimOrphans: `WITH ${alive}, c AS (
        SELECT id FROM ${s}.session WHERE holder IS NOT NULL AND holder NOT IN (SELECT n FROM alive)
        ORDER BY busy DESC LIMIT $3 FOR UPDATE SKIP LOCKED
      )
      UPDATE ${s}.session s SET epoch = epoch + 1, takeovers = takeovers + busy::int,
        holder = CASE WHEN busy AND takeovers + 1 >= $4 THEN NULL ELSE $1::int END,
        parked = CASE WHEN busy AND takeovers + 1 >= $4 THEN 'its turn was open when ' || (takeovers + 1) || ' workers ended' END
      FROM c WHERE s.id = c.id RETURNING s.id, s.epoch, s.next_seq AS next, s.parked`,
    claimMail: `WITH c AS (
        SELECT s.id FROM ${s}.mail m JOIN ${s}.session s ON s.id = m.session WHERE s.holder IS NULL AND s.parked IS NULL
        ORDER BY m.n LIMIT $2 FOR UPDATE OF s SKIP LOCKED
      )
      UPDATE ${s}.session s SET epoch = epoch + 1, holder = $1 FROM c WHERE s.id = c.id RETURNING s.id, s.epoch, s.next_seq AS next, s.parked`,
    send: `WITH head AS (
        INSERT INTO ${s}.session (id) VALUES ($1) ON CONFLICT DO NOTHING
      ), sent AS (
        INSERT INTO ${s}.mail (session, message_id, message) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
      ), told AS (
        SELECT pg_notify('loopguard_' || '${literal(s)}.worker'::regclass::oid, $1)
      )
      SELECT s.parked FROM told LEFT JOIN ${s}.session s ON s.id = $1`,
    mail: `SELECT session, message_id AS id, message FROM ${s}.mail WHERE session = ANY($1::text[]) ORDER BY n`,
    dropMail: `DELETE FROM ${s}.mail WHERE session = $1 AND message_id = ANY($2::text[])`,
  }
}

type StatementName =
  | 'space'
  | 'register'
  | 'renew'
  | 'unregister'
  | 'sweep'
  | 'epochs'
  | 'create'
  | 'load'
  | 'holder'
  | 'events'
  | 'stored'
  | 'append'
  | 'release'
  | 'giveUp'
  | 'abandon'
  | 'abandonClaim'
  | 'park'
  | 'unpark'
  | 'claimOrphans'
  | 'claimMail'
  | 'send'
  | 'mail'
  | 'dropMail'

/** Inside a literal. */
const literal = (quotedName: string): string => quotedName.replaceAll("'", "''")
