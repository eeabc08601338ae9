/** `culvert tunnels policy TUNNEL`: the actions of its traffic policy, and what those that are only tried would have refused. Called by tunnel-policy.ts. */
import { z } from 'zod';
import { type Asked, printRows } from '../client/api-command.ts';
import { otherGuards, type TunnelItem } from '../manage/tunnels.ts';
import { print, writeLine } from '../terminal/io.ts';
import { harmless, jsonText, type Span, span } from '../terminal/paint.ts';

const answer = z.looseObject({
  policy: z
    .looseObject({ actions: z.array(z.looseObject({ kind: z.string(), enforce: z.boolean().optional() })) })
    .nullable(),
  dry_run: z.array(
    z.looseObject({
      index: z.int(),
      would_refuse: z.int(),
      last_at: z.string().nullable(),
      sample: z
        .looseObject({
          method: z.string().nullable(),
          path: z.string().nullable(),
          client_ip: z.string(),
          error: z.string(),
        })
        .nullable(),
    }),
  ),
});

type Answer = z.output<typeof answer>;
type Action = NonNullable<Answer['policy']>['actions'][number];
type DryRun = Answer['dry_run'][number];

export async function showPolicy(asked: Asked, found: TunnelItem): Promise<void> {
  const { io, flags } = asked;
  const said = await asked.call('GET', `/tunnels/${encodeURIComponent(found.id)}/policy`);
  if (flags['json'] === true) return print(io.stdout, jsonText(said));
  const { policy, dry_run: dryRuns } = answer.parse(said);
  if (policy === null) {
    const others = otherGuards(found) ?? 'It has no other access control: all visitors are allowed.';
    writeLine(io.stderr, harmless(`${found.subdomain} has no traffic policy. ${others}`));
    return;
  }
  const rows = policy.actions.map((action, index) => ({ action, dryRun: dryRuns.find((one) => one.index === index) }));
  await printRows(asked, rows, {
    kind: ({ action }) => action.kind,
    rule: ({ action }) => ruleOf(action),
    enforced: ({ action }) => (action.enforce === false ? span('no', 'yellow') : 'yes'),
    'would refuse': ({ dryRun }) => countOf(dryRun),
    'last (utc)': ({ dryRun }) => dryRun?.last_at?.slice(0, 19).replace('T', ' ') ?? '-',
    sample: ({ dryRun }) => sampleOf(dryRun),
  });
  const others = otherGuards(found);
  if (others !== undefined) writeLine(io.stderr, harmless(others));
}

/** `/admin`, `10.0.0.0/8, 192.0.2.7`, and with names where there are several: `requests_per_minute=600 per_client_ip=true`. */
function ruleOf(action: Action): string {
  const values = Object.entries(action).filter(([name]) => name !== 'kind' && name !== 'enforce');
  const parts = values.map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    return values.length === 1 ? text : `${name}=${text}`;
  });
  return parts.join(' ');
}

function countOf(dryRun: DryRun | undefined): string | Span {
  if (dryRun === undefined) return '-';
  return dryRun.would_refuse === 0 ? '0' : span(String(dryRun.would_refuse), 'yellow');
}

function sampleOf(dryRun: DryRun | undefined): string {
  const sample = dryRun?.sample ?? null;
  if (sample === null) return '-';
  const { method, path, client_ip: from, error } = sample;
  return [method, path, `from ${from}: ${error}`].filter((part) => part !== null).join(' ');
}
