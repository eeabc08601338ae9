/** `culvert admin edge`: what the public edge has let in, refused and cut since the server started. */
import { z } from 'zod';
import { print } from './io.ts';
import { operatorCommand } from './operator.ts';
import { harmless, jsonText } from './paint.ts';
import { tableLines } from './table.ts';

const counts = z.record(z.string(), z.int());

const edge = z.looseObject({
  since: z.string(),
  connections: z.looseObject({
    open: z.int(),
    http: z.int(),
    tcp: z.int(),
    addresses: z.int(),
    admitted: z.int(),
  }),
  dropped: counts,
  answered: counts,
  inspector: z.looseObject({ dropped: counts }),
});

/** A table of what has come at all; `--json`: everything. */
export const showEdge = operatorCommand(async ({ operator, io, flags }) => {
  const answer = await operator.call('GET', '/superadmin/edge');
  const { since, connections: now, dropped, answered, inspector } = edge.parse(answer);
  if (flags['json'] === true) return print(io.stdout, jsonText(answer));
  const open = `${now.open} open now (${now.http} http, ${now.tcp} tcp) from ${now.addresses} addresses`;
  const rows = [
    ...rowsOf('dropped', dropped),
    ...rowsOf('answered', answered),
    ...rowsOf('not recorded', inspector.dropped),
  ];
  const table = rows.length === 0 ? ['nobody was refused or cut'] : tableLines(['what', 'reason', 'count'], rows);
  await print(io.stdout, [`since ${harmless(since)}: ${now.admitted} connections, ${open}`, ...table].join('\n'));
});

/** What never came is left out, what came most is first. */
function rowsOf(what: string, of: Readonly<Record<string, number>>): string[][] {
  return Object.entries(of)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => [what, reason, String(count)]);
}
