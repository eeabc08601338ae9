/** `culvert tunnels latency`: how long requests take, and how they end, of one tunnel or of all of the organization. */
import { z } from 'zod';
import { apiCommand, printRows } from '../client/api-command.ts';
import { textFlag } from '../terminal/flags.ts';
import { print } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/paint.ts';
import { findTunnel } from './tunnels.ts';

const ms = z.number().nullable();
const percentiles = z.object({ p50_ms: ms, p95_ms: ms, p99_ms: ms });
const answered = z.object({
  summary: z.object({
    count: z.int(),
    first_byte: percentiles,
    total: percentiles,
    status: z.record(z.string(), z.int()),
    connections: z.int(),
  }),
});
const me = z.object({ active_org: z.object({ id: z.string() }) });

type Percentiles = z.output<typeof percentiles>;

export const tunnelsLatency = apiCommand(async (asked) => {
  const { io, flags, args } = asked;
  const range = textFlag(flags, 'range') ?? '1h';
  const found = args[0] === undefined ? undefined : await findTunnel(asked);
  const of =
    found === undefined
      ? `/orgs/${encodeURIComponent(me.parse(await asked.call('GET', '/auth/me')).active_org.id)}`
      : `/tunnels/${encodeURIComponent(found.id)}`;
  const answer = await asked.call('GET', `${of}/latency?range=${range}`);
  if (flags['json'] === true) return print(io.stdout, jsonText(answer));
  const { count, first_byte, total, status, connections } = answered.parse(answer).summary;
  const rows = [
    { part: 'first byte', ...first_byte },
    { part: 'whole response', ...total },
  ];
  await printRows(asked, rows, {
    [`last ${range}`]: ({ part }) => part,
    p50: (row) => durationText(row.p50_ms),
    p95: (row) => durationText(row.p95_ms),
    p99: (row) => durationText(row.p99_ms),
  });
  const classes = Object.entries(status).map(([name, requests]) => `, ${requests} ${name}`);
  const others = connections === 0 ? '' : `; ${connections} connections`;
  await print(io.stdout, harmless(`${count} requests${classes.join('')}${others}`));
});

function durationText(of: Percentiles['p50_ms']): string {
  if (of === null) return '-';
  return of < 1_000 ? `${Number(of.toFixed(of < 10 ? 1 : 0))} ms` : `${Number((of / 1_000).toFixed(2))} s`;
}
