/** The search of `culvert inspect`: its flags as a query of the API, and as many responses as fill a page. */
import type { Asked } from '../client/api-command.ts';
import { findTunnel } from '../manage/tunnels.ts';
import { usageError } from '../terminal/exit.ts';
import { countFlag, textFlag } from '../terminal/flags.ts';
import { harmless } from '../terminal/paint.ts';
import { momentMs, spanMs } from '../terminal/time-span.ts';
import { item, type Item } from './inspected-item.ts';

/** Flag → parameter of the API that takes its value as it is. */
const PARAMETERS = {
  method: 'method',
  status: 'status',
  path: 'path',
  outcome: 'outcome',
  body: 'body',
  header: 'header',
  address: 'address',
  traceId: 'trace_id',
  before: 'before',
} as const;
/** The same for flags with a whole number. */
const COUNTS = { minLatencyMs: 'min_latency_ms', maxLatencyMs: 'max_latency_ms', limit: 'limit' } as const;
export const FILTERS = ['tunnel', 'since', ...keysOf(PARAMETERS), ...keysOf(COUNTS)];
/** The server's page size without `limit`, and the most calls to fill a page. */
const USUAL_LIMIT = 100;
const MAX_ASKS = 50;

interface Listed {
  readonly rows: Item[];
  /** How far back it searched, and how to continue; undefined: to the end, or until there were enough. */
  readonly stopped: string | undefined;
}

/** A response ends early when the search ran out of time; the next call continues it. */
export async function listOf(asked: Asked, query: string): Promise<Listed> {
  const limit = countFlag(asked.flags, 'limit') ?? USUAL_LIMIT;
  const rows: Item[] = [];
  let at: string | undefined = query;
  let searchedTo: string | undefined;
  for (let asks = 0; at !== undefined && asks < MAX_ASKS && rows.length < limit; asks++) {
    const answer = await asked.page(`/inspector${at}`);
    rows.push(...item.array().parse(answer.body));
    at = answer.next;
    searchedTo = answer.headers.find(([name]) => name === 'culvert-searched-to')?.[1];
  }
  const before = new URLSearchParams(at ?? '').get('before');
  const isDone = rows.length >= limit || before === null;
  const stopped = isDone || searchedTo === undefined ? undefined : stoppedText(searchedTo, before);
  return { rows: rows.slice(0, limit), stopped };
}

function stoppedText(searchedTo: string, before: string): string {
  const time = searchedTo.slice(0, 19).replace('T', ' ');
  return harmless(`Searched back to ${time} UTC. To search further back, add --before ${before}`);
}

/** The query of the list that the flags ask for, `?` included; empty: all. @throws ExitError (usage) */
export async function queryOf(asked: Asked): Promise<string> {
  const { flags } = asked;
  const given: Record<string, string | undefined> = {
    tunnel_id: await tunnelIdOf(asked),
    since: sinceOf(textFlag(flags, 'since')),
    secrets: flags['secrets'] === true ? 'true' : undefined,
  };
  for (const flag of keysOf(PARAMETERS)) given[PARAMETERS[flag]] = textFlag(flags, flag);
  for (const flag of keysOf(COUNTS)) given[COUNTS[flag]] = countFlag(flags, flag)?.toString();
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ).toString();
  return query === '' ? '' : `?${query}`;
}

/** The id that `--tunnel` means, by subdomain or id. */
export async function tunnelIdOf(asked: Asked): Promise<string | undefined> {
  const handle = textFlag(asked.flags, 'tunnel');
  return handle === undefined ? undefined : (await findTunnel({ ...asked, args: [handle] })).id;
}

function sinceOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ago = spanMs(text);
  if (ago !== undefined) return new Date(Date.now() - ago).toISOString();
  const at = momentMs(text);
  if (at === undefined) {
    throw usageError(harmless(`--since: "${text}" is not a time. Use 2026-12-24T18:00Z, 15m, 2h or 7d`));
  }
  return new Date(at).toISOString();
}

function keysOf<K extends string>(of: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(of) as K[];
}
