/** `culvert domains`: custom domains, from the DNS record that proves them to the tunnel that they lead to. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone, printRows } from '../client/api-command.ts';
import { findTunnel, tunnelNames } from '../manage/tunnels.ts';
import { confirm } from '../terminal/confirm.ts';
import { type Span, span } from '../terminal/paint.ts';
import { findRow } from './find.ts';

const domain = z.looseObject({
  id: z.string(),
  domain: z.string(),
  verified: z.boolean(),
  boundTunnelId: z.string().nullable(),
  dnsRecord: z.looseObject({ type: z.string(), name: z.string(), value: z.string() }),
  certificate: z.looseObject({ state: z.string() }).nullish(),
});
type Domain = z.output<typeof domain>;

export const domainsList = apiCommand(async (asked) => {
  const rows = await listDomains(asked);
  const names = asked.flags['json'] === true ? new Map<string, string>() : await tunnelNames(asked);
  await printRows(asked, rows, {
    domain: (row) => row.domain,
    verified: verifiedOf,
    tunnel: ({ boundTunnelId: id }) => (id === null ? '-' : (names.get(id) ?? id)),
    certificate: (row) => row.certificate?.state ?? '-',
    id: (row) => row.id,
  });
});

export const domainsAdd = apiCommand(async (asked) => {
  const [name = ''] = asked.args;
  const answer = await asked.call('POST', '/domains', { domain: name });
  const added = domain.parse(answer);
  await printDone(asked, answer, `${added.domain}: added. ${nextStep(added)}`);
});

export const domainsVerify = apiCommand(async (asked) => {
  const { id } = await findDomain(asked);
  const answer = await asked.call('POST', `${pathOf(id)}/verify`);
  const found = domain.parse(answer);
  const sentence = found.verified ? 'verified' : `not verified yet. ${nextStep(found)}`;
  await printDone(asked, answer, `${found.domain}: ${sentence}`);
});

export const domainsBind = apiCommand(async (asked) => {
  const found = await findDomain(asked);
  const tunnel = await findTunnel({ ...asked, args: asked.args.slice(1) });
  const answer = await asked.call('PUT', `${pathOf(found.id)}/bind`, { tunnel_id: tunnel.id });
  await printDone(asked, answer, `${found.domain}: leads to ${tunnel.subdomain}`);
});

export const domainsUnbind = apiCommand(async (asked) => {
  const found = await findDomain(asked);
  const answer = await asked.call('DELETE', `${pathOf(found.id)}/bind`);
  await printDone(asked, answer, `${found.domain}: leads to no tunnel`);
});

export const domainsDelete = apiCommand(async (asked) => {
  const found = await findDomain(asked);
  await confirm(asked.io, asked.flags, `Delete the domain ${found.domain}? Visitors no longer reach a tunnel by it.`);
  const answer = await asked.call('DELETE', pathOf(found.id));
  await printDone(asked, answer, `${found.domain}: deleted`);
});

async function listDomains(asked: Asked): Promise<Domain[]> {
  return domain.array().parse(await asked.call('GET', '/domains'));
}

async function findDomain(asked: Asked): Promise<Domain> {
  const handle = (asked.args[0] ?? '').toLowerCase();
  const of = (row: Domain): string[] => [row.id, row.domain];
  return findRow(await listDomains(asked), handle, { of, what: 'domain', list: 'domains list' });
}

function nextStep({ domain: name, dnsRecord: { type, name: host, value } }: Domain): string {
  return `Set this DNS record, then run culvert domains verify ${name}: ${host} ${type} ${value}`;
}

function verifiedOf({ verified }: Domain): Span {
  return verified ? span('yes', 'green') : span('no', 'yellow');
}

function pathOf(id: string): string {
  return `/domains/${encodeURIComponent(id)}`;
}
