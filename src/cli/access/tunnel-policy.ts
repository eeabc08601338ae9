/** `culvert tunnels policy`: shows, sets, tests or removes the traffic policy of a tunnel. A policy is a file, as the API takes it. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone, printRows } from '../client/api-command.ts';
import { findTunnel, type TunnelItem } from '../manage/tunnels.ts';
import { confirm } from '../terminal/confirm.ts';
import { usageError } from '../terminal/exit.ts';
import { readInput } from '../terminal/input.ts';
import { print, writeLine } from '../terminal/io.ts';
import { harmless, jsonText, span } from '../terminal/paint.ts';
import { showPolicy } from './policy-view.ts';

const saved = z.looseObject({ warnings: z.array(z.string()).default([]) });
const tested = z.looseObject({
  tested: z.int(),
  would_refuse: z.int(),
  requests: z.array(
    z.looseObject({
      timestamp: z.string(),
      method: z.string(),
      path: z.string(),
      remote_ip: z.string(),
      action: z.int(),
      code: z.string(),
      enforced: z.boolean(),
    }),
  ),
});

type Action = (asked: Asked, found: TunnelItem) => Promise<void>;

/** What may stand before the tunnel; else the first word is the tunnel. */
const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['show', showPolicy],
  ['set', setPolicy],
  ['test', testPolicy],
  ['remove', removePolicy],
]);
const WITH_FILE: ReadonlySet<string> = new Set(['set', 'test']);

export const tunnelsPolicy = apiCommand(async (asked) => {
  const [first = '', ...rest] = asked.args;
  const action = ACTIONS.get(first);
  const args = action === undefined ? asked.args : rest;
  const wanted = WITH_FILE.has(first) ? 2 : 1;
  if (args.length !== wanted)
    throw usageError(
      `write: policy TUNNEL, policy ${[...ACTIONS.keys()].join('|')} TUNNEL, with FILE for set and test`,
    );
  const of = { ...asked, args };
  await (action ?? showPolicy)(of, await findTunnel(of));
});

async function setPolicy(asked: Asked, found: TunnelItem): Promise<void> {
  const answer = await asked.call('PUT', pathOf(found), await policyIn(asked));
  const { warnings } = saved.parse(answer);
  await printDone(asked, answer, `${found.subdomain}: policy saved. It applies immediately`);
  for (const warning of warnings) writeLine(asked.io.stderr, harmless(warning));
}

async function testPolicy(asked: Asked, found: TunnelItem): Promise<void> {
  const { io, flags } = asked;
  const answer = await asked.call('POST', `${pathOf(found)}/test`, { policy: await policyIn(asked) });
  if (flags['json'] === true) return print(io.stdout, jsonText(answer));
  const { tested: count, would_refuse: refused, requests } = tested.parse(answer);
  if (requests.length > 0)
    await printRows(asked, requests, {
      'time (utc)': (row) => row.timestamp.slice(0, 19).replace('T', ' '),
      request: (row) => `${row.method} ${row.path}`,
      from: (row) => row.remote_ip,
      action: (row) => String(row.action),
      code: (row) => row.code,
      enforced: (row) => (row.enforced ? 'yes' : span('no', 'yellow')),
    });
  writeLine(io.stderr, `${count} recorded requests tested: ${refused} would be blocked. Nothing was changed`);
}

async function removePolicy(asked: Asked, found: TunnelItem): Promise<void> {
  await confirm(asked.io, asked.flags, `Remove the traffic policy of ${found.subdomain}?`);
  const answer = await asked.call('DELETE', pathOf(found));
  await printDone(asked, answer, `${found.subdomain}: policy removed`);
}

/** The file of the command line. The server knows what may stand in it. @throws ExitError (usage) */
async function policyIn({ io, args }: Asked): Promise<object> {
  const file = args[1] ?? '';
  const text = await readInput(io, file);
  try {
    const policy: unknown = JSON.parse(text);
    if (typeof policy === 'object' && policy !== null) return policy;
  } catch (cause) {
    throw usageError(`${file}: is not valid JSON: ${cause instanceof Error ? cause.message : ''}`, cause);
  }
  throw usageError(`${file}: must be a JSON object, such as {"actions": []}`);
}

function pathOf({ id }: TunnelItem): string {
  return `/tunnels/${encodeURIComponent(id)}/policy`;
}
