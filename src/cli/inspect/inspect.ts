/**
 * `culvert inspect`: the requests that visitors made, as the server has recorded them. A list, one with everything (detail.ts), as they
 * come (follow.ts), for other tools, and sent once more.
 */
import { z } from 'zod';
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { usageError } from '../terminal/exit.ts';
import { countFlag, optionOf, refuseFlags, textFlag } from '../terminal/flags.ts';
import { showCurl } from './curl.ts';
import { showDetail } from './detail.ts';
import { follow } from './follow.ts';
import { gapOf } from './gap.ts';
import { item, type Item, pathShown, remarkOf, statusShown } from './inspected-item.ts';
import { print, writeLine } from '../terminal/io.ts';
import { findTunnel, tunnelNames } from '../manage/tunnels.ts';
import { harmless, jsonText } from '../terminal/paint.ts';
import { momentMs, spanMs } from '../terminal/time-span.ts';

const FILTERS = ['tunnel', 'method', 'status', 'path', 'outcome', 'since', 'limit'] as const;
const OF_ONE = ['curl', 'replay'] as const;
const WAYS = ['follow', 'curl', 'har', 'replay'] as const;
/** Of a list, as the server has it when no `limit` is given; and how often it is asked at most to fill one. */
const USUAL_LIMIT = 100;
const MAX_ASKS = 50;

const replayed = z.looseObject({
  id: z.string(),
  status: z.int(),
  latency_ms: z.number(),
  code: z.string().optional(),
});

export const inspect = apiCommand(async (asked) => {
  const { args, flags } = asked;
  const ways = WAYS.filter((name) => flags[name] === true);
  if (ways.length > 1) throw usageError(`${ways.map(optionOf).join(', ')}: choose one`);
  if (flags['secrets'] === true && flags['curl'] !== true && flags['har'] !== true)
    throw usageError('--secrets: needs --curl or --har');
  const [id] = args;
  if (id === undefined) return inspectMany(asked);
  refuseFlags(flags, [...FILTERS, 'follow'], "can't be used with a request ID");
  await inspectOne(asked, `/inspector/${encodeURIComponent(id)}`);
});

async function inspectMany(asked: Asked): Promise<void> {
  const { flags } = asked;
  refuseFlags(flags, OF_ONE, 'needs a request ID: culvert inspect ID');
  if (flags['follow'] === true) {
    refuseFlags(
      flags,
      FILTERS.filter((name) => name !== 'tunnel'),
      "can't be used with --follow, which shows every new request",
    );
    return follow(asked, await tunnelIdOf(asked));
  }
  const query = await queryOf(asked);
  if (flags['har'] === true) return exportHar(asked, `/inspector/har${query}`);
  const rows = await listOf(asked, query, countFlag(flags, 'limit') ?? USUAL_LIMIT);
  if (flags['json'] !== true && rows.length === 0) {
    const wide = query === '' ? 'No requests are recorded yet.' : 'No recorded request matches.';
    const gap = await gapOf(asked, await tunnelIdOf(asked));
    return writeLine(asked.io.stderr, `${wide} ${gap ?? 'culvert inspect --follow shows live requests.'}`);
  }
  const names = flags['json'] === true ? new Map<string, string>() : await tunnelNames(asked);
  await printRows<Item>(asked, rows, {
    'time (utc)': (row) => row.timestamp.slice(0, 19).replace('T', ' '),
    tunnel: (row) => names.get(row.tunnel_id) ?? '(deleted)',
    method: (row) => row.method,
    path: (row) => pathShown(row.path),
    status: statusShown,
    remark: remarkOf,
    ms: (row) => row.latency_ms.toFixed(1),
    in: (row) => String(row.request_size),
    out: (row) => String(row.response_size),
    from: (row) => row.remote_ip,
    id: (row) => row.id,
  });
}

/** An answer ends where looking took too long, or where forgotten ones lie in the way: then the next one goes on. */
async function listOf(asked: Asked, query: string, limit: number): Promise<Item[]> {
  const rows: Item[] = [];
  let at: string | undefined = query;
  for (let asks = 0; at !== undefined && asks < MAX_ASKS && rows.length < limit; asks++) {
    const answer = await asked.page(`/inspector${at}`);
    rows.push(...item.array().parse(answer.body));
    at = answer.next;
  }
  return rows.slice(0, limit);
}

async function inspectOne(asked: Asked, path: string): Promise<void> {
  const { flags } = asked;
  const secrets = flags['secrets'] === true ? '?secrets=true' : '';
  if (flags['har'] === true) return exportHar(asked, `${path}/har${secrets}`);
  if (flags['curl'] === true) return showCurl(asked, path);
  if (flags['replay'] === true) {
    const answer = await asked.call('POST', `${path}/replay`);
    const { id, status, latency_ms: ms, code } = replayed.parse(answer);
    const said = code === undefined ? '' : ` (${code})`;
    return printDone(asked, answer, `Sent again: ${status}${said} in ${ms.toFixed(1)} ms. See: culvert inspect ${id}`);
  }
  await showDetail(asked, await asked.call('GET', path));
}

async function exportHar(asked: Asked, path: string): Promise<void> {
  await print(asked.io.stdout, jsonText(await asked.call('GET', path)));
}

async function queryOf(asked: Asked): Promise<string> {
  const { flags } = asked;
  const given: Record<string, string | undefined> = {
    tunnel_id: await tunnelIdOf(asked),
    method: textFlag(flags, 'method'),
    status: textFlag(flags, 'status'),
    path: textFlag(flags, 'path'),
    outcome: textFlag(flags, 'outcome'),
    since: sinceOf(textFlag(flags, 'since')),
    limit: countFlag(flags, 'limit')?.toString(),
    secrets: flags['secrets'] === true ? 'true' : undefined,
  };
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ).toString();
  return query === '' ? '' : `?${query}`;
}

/** The id that `--tunnel` means, by subdomain or id. */
async function tunnelIdOf(asked: Asked): Promise<string | undefined> {
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
