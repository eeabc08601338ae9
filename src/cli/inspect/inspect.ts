/**
 * `culvert inspect`: the requests that visitors made, as the server has recorded them. A list, one with everything (detail.ts), as they
 * come (follow.ts), for other tools, and sent once more.
 */
import { z } from 'zod';
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { usageError } from '../terminal/exit.ts';
import { optionOf, refuseFlags } from '../terminal/flags.ts';
import { showCurl } from './curl.ts';
import { showDetail } from './detail.ts';
import { follow } from './follow.ts';
import { gapOf } from './gap.ts';
import { type Item, pathShown, remarkOf, statusShown } from './inspected-item.ts';
import { print, writeLine } from '../terminal/io.ts';
import { tunnelNames } from '../manage/tunnels.ts';
import { jsonText } from '../terminal/paint.ts';
import { FILTERS, listOf, queryOf, tunnelIdOf } from './search.ts';

const OF_ONE = ['curl', 'replay'] as const;
const WAYS = ['follow', 'curl', 'har', 'replay'] as const;

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
  const { rows, stopped } = await listOf(asked, query);
  if (flags['json'] === true || rows.length > 0) await printItems(asked, rows);
  if (stopped !== undefined) return writeLine(asked.io.stderr, stopped);
  if (flags['json'] !== true && rows.length === 0) {
    const wide = query === '' ? 'No requests are recorded yet.' : 'No recorded request matches.';
    const gap = await gapOf(asked, await tunnelIdOf(asked));
    writeLine(asked.io.stderr, `${wide} ${gap ?? 'culvert inspect --follow shows live requests.'}`);
  }
}

async function printItems(asked: Asked, rows: readonly Item[]): Promise<void> {
  const names = asked.flags['json'] === true ? new Map<string, string>() : await tunnelNames(asked);
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
