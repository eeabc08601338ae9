/** `culvert tokens limit` and `show`: limits of a key that exists, and what it does now. */
import { z } from 'zod';
import { apiCommand, printDone } from '../client/api-command.ts';
import { usageError } from '../terminal/exit.ts';
import { countFlag, listFlag, textFlag } from '../terminal/flags.ts';
import { writeLine } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/paint.ts';
import { findToken, statusText, token, tokenPath, when } from './token-rows.ts';

const GB_DIGITS = 3;

const detail = token.extend({
  lastUsedAt: z.int().nullable(),
  lastUsedIp: z.string().nullable(),
  sessions: z.array(
    z.looseObject({
      hostname: z.string(),
      remoteIp: z.string(),
      connectedAt: z.int(),
      tunnels: z.array(z.looseObject({ subdomain: z.string() })),
      networks: z.array(z.string()),
    }),
  ),
});
type Detail = z.output<typeof detail>;

const pricing = z.looseObject({ usdCentsPerGb: z.number().nullable() });

export const tokensLimit = apiCommand(async (asked) => {
  const { flags } = asked;
  const given = {
    name: textFlag(flags, 'name'),
    allowedSubdomains: listFlag(flags, 'subdomains'),
    tunnelQuota: countFlag(flags, 'quota'),
    bandwidthLimitMbps: countFlag(flags, 'mbps'),
  };
  if (Object.values(given).every((value) => value === undefined))
    throw usageError('needs --subdomains, --quota, --mbps or --name');
  const { nonce } = await findToken(asked, asked.args[0] ?? '', { passOverGrace: true });
  const answer = await asked.call('PATCH', tokenPath(nonce), given);
  const now = detail.parse(answer);
  await printDone(asked, answer, `${now.name}: ${limitsText(now)}`);
});

export const tokensShow = apiCommand(async (asked) => {
  const { nonce } = await findToken(asked, asked.args[0] ?? '');
  const answer = await asked.call('GET', tokenPath(nonce));
  if (asked.flags['json'] === true) return writeLine(asked.io.stdout, jsonText(answer));
  const found = detail.parse(answer);
  const { usdCentsPerGb } = pricing.parse(await asked.call('GET', '/tokens/pricing'));
  for (const [label, value] of linesOf(found, usdCentsPerGb))
    writeLine(asked.io.stdout, harmless(`${label.padEnd(LABEL_WIDTH)}${value}`));
});

const LABEL_WIDTH = 12;

function linesOf(found: Detail, centsPerGb: number | null): ReadonlyArray<readonly [string, string]> {
  const { lastUsedAt, lastUsedIp, sessions } = found;
  const used =
    lastUsedAt === null ? 'never' : `${when(lastUsedAt)} UTC${lastUsedIp === null ? '' : ` from ${lastUsedIp}`}`;
  return [
    ['name', found.name],
    ['nonce', found.nonce],
    ['kind', found.projectSlug === null ? found.kind : `${found.kind}, project ${found.projectSlug}`],
    ['limits', limitsText(found)],
    ['budget', budgetText(found, centsPerGb)],
    ['expires', `${when(found.expiresAt)} UTC (${statusText(found)})`],
    ['last used', used],
    ...(sessions.length === 0
      ? ([['serves', 'nothing']] as const)
      : sessions.map((one) => ['serves', sessionText(one)] as const)),
  ];
}

function limitsText({ kind, tunnelQuota, bandwidthLimitMbps, allowedSubdomains }: Detail): string {
  if (kind === 'master') return 'opens no tunnels';
  const tunnels = tunnelQuota === 1 ? '1 tunnel' : `${tunnelQuota} tunnels`;
  return `${tunnels}, ${bandwidthLimitMbps} Mbit/s, names ${allowedSubdomains.join(', ')}`;
}

/** "$1.20 of $5.00 this month (≈ 50 GB at 10 ¢/GB)". */
function budgetText({ monthlyBudgetUsdCents: cap, spentUsdCents: spent }: Detail, centsPerGb: number | null): string {
  if (cap === null) return `none; ${dollars(spent)} spent this month`;
  const buys =
    centsPerGb === null ? '' : ` (≈ ${Number((cap / centsPerGb).toPrecision(GB_DIGITS))} GB at ${centsPerGb} ¢/GB)`;
  return `${dollars(spent)} of ${dollars(cap)} this month${buys}`;
}

function sessionText({ hostname, remoteIp, connectedAt, tunnels, networks }: Detail['sessions'][number]): string {
  const names = [...tunnels.map(({ subdomain }) => subdomain), ...networks.map((id) => `network ${id}`)];
  return `${names.join(', ') || 'no tunnel'}: ${hostname} at ${remoteIp}, since ${when(connectedAt)} UTC`;
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
