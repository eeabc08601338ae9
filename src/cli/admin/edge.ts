/** `culvert admin edge`: visitor connections since the server started: accepted, refused and cut. */
import { z } from 'zod';
import { print } from '../terminal/io.ts';
import { operatorCommand } from './operator.ts';
import { harmless, jsonText } from '../terminal/paint.ts';
import { tableLines } from '../terminal/table.ts';

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
  relays: z.looseObject({ attached: z.int(), on_stream: z.int(), flows: z.int(), dropped: counts }),
});

/** A table of what has come at all; `--json`: everything. */
export const showEdge = operatorCommand(async ({ operator, io, flags }) => {
  const answer = await operator.call('GET', '/superadmin/edge');
  const { since, connections: now, dropped, answered, inspector, relays } = edge.parse(answer);
  if (flags['json'] === true) return print(io.stdout, jsonText(answer));
  const open = `${now.open} open now (${now.http} http, ${now.tcp} tcp) from ${now.addresses} addresses`;
  const rows = [
    ...rowsOf('dropped', dropped),
    ...rowsOf('answered', answered),
    ...rowsOf('not recorded', inspector.dropped),
    ...rowsOf('datagrams', relays.dropped),
  ];
  const table =
    rows.length === 0 ? ['no connections were refused or closed'] : tableLines(['what', 'reason', 'count'], rows);
  const head = [`since ${harmless(since)}: ${now.admitted} connections, ${open}`, ...networksLine(relays)];
  await print(io.stdout, [...head, ...table].join('\n'));
});

/** Nothing where no agent carries a private network. */
function networksLine({ attached, on_stream: onStream, flows }: z.infer<typeof edge>['relays']): string[] {
  if (attached === 0) return [];
  return [`private networks: ${attached} attached (${onStream} over TLS, without UDP), ${flows} clients`];
}

/** What never came is left out, what came most is first. */
function rowsOf(what: string, of: Readonly<Record<string, number>>): string[][] {
  return Object.entries(of)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => [what, reason, String(count)]);
}
