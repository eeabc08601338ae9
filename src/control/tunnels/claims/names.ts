/**
 * Which project and which name a claim means, and whether its token may have them. Reads only: what is made or taken is service.ts.
 */
import type { ClaimQuestion, NodeControl, Refusal } from '../../../plane/link.ts';
import type { Tx } from '../../db/tx.ts';
import { findProject, findProjectById, type ProjectRow } from '../../projects/rows.ts';
import type { TokenRow } from '../../access-keys/rows.ts';
import { refuse } from '../../access-keys/messages.ts';
import { liveByLabel, nameFault } from '../../subdomains/free-names.ts';
import { fullLabel, isAllowedName, isLabel, NAME_TRIES, nameWithin, roomIn } from '../../core/rules/labels.ts';
import { anyById, type TunnelRow, unnamedTcpTunnels } from '../rows.ts';
import type { OrganizationRow } from '../../organizations/rows.ts';

/** Patterns of a token that a refusal names. */
const MAX_LISTED = 5;

/** Who claims, and where. */
export interface ClaimContext {
  readonly token: TokenRow;
  readonly org: OrganizationRow;
  readonly project: ProjectRow;
  readonly nodes: Pick<NodeControl, 'isTaken'>;
  /** The public port of a tunnel that is to be made; null: any. */
  readonly port: number | null;
}

export interface Found {
  readonly label: string;
  /** The live tunnel that has it, of any owner. */
  readonly row: TunnelRow | undefined;
  /** An unnamed one. */
  readonly ephemeral: boolean;
}

/** The project that a claim means: the token's own, the one that is named, or the default one. */
export function projectFor(tx: Tx, token: TokenRow, slug: string | undefined): ProjectRow | Refusal {
  if (token.projectId === null) {
    return (
      findProject(tx.db, token.orgId, slug === '' ? undefined : slug) ??
      refuse('invalid_request', `Your organization has no project ${slug ?? ''}. Check the slug.`)
    );
  }
  const own = findProjectById(tx.db, token.orgId, token.projectId);
  if (own === undefined)
    return refuse('unauthorized', 'The project of this access key was deleted. Create a key for another project.');
  if (slug !== undefined && slug !== '' && slug !== own.slug)
    return refuse(
      'forbidden',
      `The access key ${token.name} is only for the project ${own.slug}. Use it there, or use another key.`,
    );
  return own;
}

/** The name that is claimed and the live row that has it, if any. Refuses names that are none, or that the token may not use. */
export function locate(tx: Tx, context: ClaimContext, question: ClaimQuestion): Found | Refusal {
  const { token, project } = context;
  if (question.subdomain === undefined || question.subdomain === '') return locateUnnamed(tx, context, question);
  const name = question.subdomain;
  const label = claimedLabel(tx, context, question);
  if (!isLabel(name) || !isLabel(label))
    return refuse('invalid_name', `${label} is not a valid subdomain. Use a to z, 0 to 9 and dashes.`);
  // The scope is meant for the name inside the project, so the suffix is taken off again where an agent repeats its full label.
  const short = project.isDefault || label !== name ? name : name.slice(0, -(project.slug.length + 1));
  if (!isAllowedName(short, token.allowedSubdomains)) {
    return refuse(
      'subdomain_not_allowed',
      `The access key ${token.name} does not allow ${short}. Use ${listed(token.allowedSubdomains)}.`,
    );
  }
  return { label, row: liveByLabel(tx.db, label), ephemeral: false };
}

function locateUnnamed(
  tx: Tx,
  { token, project, nodes, port }: ClaimContext,
  question: ClaimQuestion,
): Found | Refusal {
  if (roomIn(project) === 0) {
    return refuse(
      'subdomain_not_allowed',
      `The slug of the project ${project.slug} is too long to add a name. Use another project.`,
    );
  }
  if (question.protocol === 'tcp' && port === null) {
    // A raw port has no name that the agent could repeat after a reconnect: the token and the local port stand for it.
    // The one that it says it had comes first, also while its lost session still counts as online: the port must not change.
    const own = unnamedTcpTunnels(tx.db, token, question.localPort).filter((r) => r.projectId === project.id);
    const row =
      own.find((r) => r.id === question.tunnelId) ??
      own.find((r) => !nodes.isTaken(r.id) && !question.liveTunnelIds.includes(r.id));
    if (row !== undefined) return { label: row.label, row, ephemeral: true };
  }
  const inUse = new Set<string>();
  for (let i = 0; i < NAME_TRIES + token.allowedSubdomains.length; i++) {
    const name = nameWithin(token.allowedSubdomains, inUse, roomIn(project));
    if (name === undefined) break;
    const label = fullLabel(name, project);
    const row = liveByLabel(tx.db, label);
    const isOurs =
      row === undefined || port !== null
        ? row === undefined &&
          isLabel(label) &&
          nameFault(tx, label, { orgId: token.orgId, projectId: project.id }) === undefined
        : row.projectId === project.id && !nodes.isTaken(row.id);
    if (isOurs) return { label, row, ephemeral: row?.ephemeral ?? true };
    inUse.add(name);
  }
  return refuse(
    'subdomain_not_allowed',
    `No name of the access key ${token.name} is free: ${listed(token.allowedSubdomains)}. Stop a tunnel, or allow more names.`,
  );
}

/**
 * Name plus suffix; but a full label of this project that exists already is itself, and so is that of the tunnel which the agent says it had,
 * also when it has gone since: so an agent repeats it after a reconnect.
 */
function claimedLabel(tx: Tx, { project }: ClaimContext, { subdomain: name = '', tunnelId }: ClaimQuestion): string {
  if (!project.isDefault && name.endsWith(`-${project.slug}`)) {
    const row = liveByLabel(tx.db, name) ?? (tunnelId === undefined ? undefined : anyById(tx.db, tunnelId));
    if (row?.label === name && row.projectId === project.id) return name;
  }
  return fullLabel(name, project);
}

/** The first few and how many more: a token may have a hundred patterns, and a refusal is one line for people. */
function listed(patterns: readonly string[]): string {
  const more = patterns.length - MAX_LISTED;
  return `${patterns.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
