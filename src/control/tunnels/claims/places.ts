/**
 * A claim that names its tunnel by a custom domain or a public port: turned into one that names it by its label, so that the same rules hold for it.
 * Reads only.
 */
import { and, eq, isNotNull } from 'drizzle-orm';
import type { PortRange } from '../../../base/net/addr.ts';
import type { ClaimQuestion, Refusal } from '../../../plane/link.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import { refuse } from '../../access-keys/messages.ts';
import { liveTunnels } from '../../db/gone.ts';
import { domains, projects, tunnels } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { TunnelRow } from '../rows.ts';

/** The question as the rules of names take it. `port`: of a tunnel that is to be made. */
export interface Placed {
  readonly question: ClaimQuestion;
  readonly port: number | null;
}

export function placed(
  tx: Tx,
  { orgId, question, range }: { orgId: string; question: ClaimQuestion; range: PortRange | null },
  narrowing: Narrowing | null,
): Placed | Refusal {
  const { domain = null, remotePort = null } = narrowing ?? {};
  if (domain !== null) return atDomain(tx, { orgId, question }, domain);
  return remotePort === null ? { question, port: null } : atPort(tx, { orgId, question, range }, remotePort);
}

function atDomain(
  tx: Tx,
  { orgId, question }: { orgId: string; question: ClaimQuestion },
  domain: string,
): Placed | Refusal {
  const found = tx.db
    .select({ row: tunnels, project: projects.slug })
    .from(domains)
    .innerJoin(tunnels, eq(tunnels.id, domains.tunnelId))
    .innerJoin(projects, eq(projects.id, tunnels.projectId))
    .where(and(eq(domains.orgId, orgId), eq(domains.domain, domain), isNotNull(domains.verifiedAt), liveTunnels()))
    .get();
  if (found === undefined)
    return refuse(
      'invalid_request',
      `Your organization has no domain ${domain} that is verified and bound to a tunnel. For a name below this server's domain, use --subdomain. For your own: culvert domains add ${domain}, then culvert domains verify and bind.`,
    );
  return named(
    question,
    found,
    `${domain} is bound to ${found.row.label}. Bind it to another tunnel, or leave out --subdomain.`,
  );
}

function atPort(
  tx: Tx,
  { orgId, question, range }: { orgId: string; question: ClaimQuestion; range: PortRange | null },
  port: number,
): Placed | Refusal {
  if (range === null || port < range.first || port > range.last)
    return refuse(
      'no_port_free',
      range === null
        ? 'This server has no public TCP ports. Ask its operator for some (edge.tcp_ports).'
        : `Port ${port} is not one of this server's public TCP ports, ${range.first} to ${range.last}. Choose one of them.`,
    );
  const found = tx.db
    .select({ row: tunnels, project: projects.slug })
    .from(tunnels)
    .innerJoin(projects, eq(projects.id, tunnels.projectId))
    .where(and(eq(tunnels.tcpPort, port), liveTunnels()))
    .get();
  // Never whose it is.
  if (found !== undefined && found.row.orgId !== orgId) return refusePort(port);
  if (found !== undefined)
    return named(question, found, `${found.row.label} has port ${port}. Delete it, or leave out --subdomain.`);
  return { question, port };
}

export function refusePort(port: number): Refusal {
  return refuse('no_port_free', `Port ${port} is not available to your organization. Choose another port.`);
}

/** The claim of that tunnel by its label and project; `otherwise`: it names another one. */
function named(
  question: ClaimQuestion,
  { row, project }: { row: TunnelRow; project: string },
  otherwise: string,
): Placed | Refusal {
  const { subdomain = '' } = question;
  const isSame = subdomain === '' || subdomain === row.label || `${subdomain}-${project}` === row.label;
  if (!isSame || (question.project !== undefined && question.project !== '' && question.project !== project))
    return refuse('invalid_request', otherwise);
  return { question: { ...question, subdomain: row.label, project }, port: null };
}
