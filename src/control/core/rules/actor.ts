/**
 * Who calls, and what they may do. Every service method that an outsider can reach takes an Actor first and calls `allow` before it
 * reads or writes; the organization in the Actor is an argument of every query. What is not in the table is refused.
 */
import { AppError } from '../../../base/errors.ts';

export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export type Approval = 'approved' | 'pending' | 'suspended';

/** A person with a live session, in the session's active organization. Read from the tables at each request, not from the JWT. */
export interface UserActor {
  readonly kind: 'user';
  readonly userId: string;
  readonly email: string;
  readonly orgId: string;
  readonly role: Role;
  readonly approval: Approval;
  readonly superadmin: boolean;
  readonly sessionId: string;
  readonly ipAddress: string;
}

/** An agent that acts by a capability token. */
export interface TokenActor {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly name: string;
  readonly orgId: string;
}

/** A master key as a bearer: it mints, rotates and revokes keys of its own for projects, and nothing else. */
export interface MasterKeyActor {
  readonly kind: 'master_key';
  readonly tokenId: string;
  readonly name: string;
  readonly orgId: string;
  readonly ipAddress: string;
}

/** A scraper with a key of an organization: it reads the organization's metrics, and nothing else. */
export interface MetricKeyActor {
  readonly kind: 'metric_key';
  readonly orgId: string;
}

/** Who runs this server, at that work: a superadmin, or a holder of the key file of the data folder (operator/admin-tokens.ts). */
export interface OperatorActor {
  readonly kind: 'operator';
  readonly orgId: null;
  /** Of a superadmin. */
  readonly userId: string | null;
  /** For the eyes of operators: others read `operator` (audit/service.ts). */
  readonly label: string;
  readonly ipAddress: string;
}

/** The server itself: first start, expiry, retention. */
export interface SystemActor {
  readonly kind: 'system';
  readonly orgId: string | null;
}

export type Actor = UserActor | TokenActor | MasterKeyActor | OperatorActor | SystemActor;

export const THINGS = [
  'account',
  'organization',
  'member',
  'invitation',
  'event',
  'tunnel',
  'token',
  'master_key',
  'project',
  'reserved_subdomain',
  'domain',
  'billing',
  'connection',
  'webhook_receiver',
  'network',
  'network_device',
  'metric',
  'metric_key',
  'record',
  'alert',
] as const;
export type Thing = (typeof THINGS)[number];
export const VERBS = ['read', 'create', 'change', 'start', 'delete'] as const;
export type Verb = (typeof VERBS)[number];
/** A kind of thing and what to do to it. */
export type Permission = `${Thing}.${Verb}`;

/** Lowest role per permission. A permission that is missing here is denied to all. */
const LOWEST_ROLE: Readonly<Partial<Record<Permission, Role>>> = {
  // The caller's own account: password, second factor, sessions, own memberships, a new organization of one's own.
  'account.read': 'viewer',
  'account.change': 'viewer',
  'organization.read': 'viewer',
  'organization.change': 'admin',
  'organization.delete': 'owner',
  'member.read': 'viewer',
  // Up to one's own role: what concerns owners takes an owner (organizations/members.ts, organizations/invitations.ts).
  'member.change': 'admin',
  'member.delete': 'admin',
  'invitation.read': 'viewer',
  'invitation.create': 'admin',
  'invitation.delete': 'admin',
  'event.read': 'viewer',
  'tunnel.read': 'viewer',
  'tunnel.create': 'member',
  'tunnel.change': 'member',
  'tunnel.start': 'member',
  'tunnel.delete': 'member',
  'token.read': 'viewer',
  'token.create': 'member',
  // Its budget.
  'token.change': 'member',
  'token.delete': 'member',
  // Its holder mints keys for as long as it lives, also after leaving.
  'master_key.create': 'admin',
  'master_key.change': 'admin',
  'master_key.delete': 'admin',
  'project.read': 'viewer',
  'project.create': 'member',
  'project.change': 'member',
  'project.delete': 'member',
  'reserved_subdomain.read': 'viewer',
  'reserved_subdomain.create': 'member',
  'reserved_subdomain.delete': 'member',
  'domain.read': 'viewer',
  'domain.create': 'member',
  // Verify, bind, unbind.
  'domain.change': 'member',
  'domain.delete': 'member',
  'webhook_receiver.read': 'viewer',
  'webhook_receiver.create': 'member',
  'webhook_receiver.change': 'member',
  'webhook_receiver.delete': 'member',
  'network.read': 'viewer',
  'network.create': 'member',
  // Its server, name servers and routes.
  'network.change': 'member',
  'network.delete': 'member',
  'network_device.read': 'viewer',
  'network_device.create': 'member',
  'network_device.change': 'member',
  'network_device.delete': 'member',
  'metric.read': 'viewer',
  // Its holder reads for as long as the key lives.
  'metric_key.read': 'viewer',
  'metric_key.create': 'admin',
  'metric_key.delete': 'admin',
  // Of the inspector. A viewer does not see what lets its visitors in (recorded-head.ts).
  'record.read': 'viewer',
  // A replay: it sends a request in the organization's name.
  'record.create': 'member',
  'record.delete': 'member',
  'alert.read': 'viewer',
  'alert.create': 'member',
  // Tests of its channels, too.
  'alert.change': 'member',
  'alert.delete': 'member',
  'billing.read': 'viewer',
  // A purchase.
  'billing.create': 'owner',
  'billing.change': 'owner',
  'connection.read': 'viewer',
  // A member ends connections of tokens that are their own; those of others take an admin (tunnels/connections/service.ts).
  'connection.delete': 'member',
};

/** What needs an operator's word first: what puts something on the internet, or sends mail to strangers in the name of this server. */
const OPENS: readonly Permission[] = [
  'tunnel.create',
  'tunnel.start',
  'token.create',
  'master_key.create',
  'reserved_subdomain.create',
  'domain.create',
  'webhook_receiver.create',
  'network.create',
  'network_device.create',
  'invitation.create',
  'alert.create',
  'alert.change',
  // And what costs money for nothing, until then.
  'billing.create',
];

/** Permissions denied in an organization with this approval status. In a suspended one owners stay owners. */
const BARRED: Readonly<Record<Approval, ReadonlySet<string>>> = {
  approved: new Set(),
  pending: new Set(OPENS),
  suspended: new Set([...OPENS, 'member.change', 'member.delete', 'organization.delete']),
};

/** True when the person's role is at least `role`. */
export function hasRole(actor: UserActor, role: Role): boolean {
  return ROLES.indexOf(actor.role) >= ROLES.indexOf(role);
}

/** May people of this role do this, in an approved organization? */
export function roleMay(role: Role, verb: Verb, thing: Thing): boolean {
  const lowest = LOWEST_ROLE[`${thing}.${verb}`];
  return lowest !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(lowest);
}

/** May this actor do this to things of its own organization? Tokens act through the claim rules alone, hence never through here. */
export function can(actor: Actor, verb: Verb, thing: Thing): boolean {
  if (actor.kind !== 'user' || !roleMay(actor.role, verb, thing)) return false;
  return !BARRED[actor.approval].has(`${thing}.${verb}`);
}

/** Throws `forbidden` unless `can`. */
export function allow(actor: Actor, verb: Verb, thing: Thing): asserts actor is UserActor {
  if (can(actor, verb, thing)) return;
  if (actor.kind === 'user' && BARRED[actor.approval].has(`${thing}.${verb}`)) {
    throw new AppError(
      'forbidden',
      `Your organization is ${actor.approval}. Ask an operator of this server to approve it.`,
    );
  }
  throw new AppError('forbidden', refusalOf(actor, verb, thing));
}

/** Permissions with another name than their verb and thing. */
const CALLED: Readonly<Record<string, string>> = {
  'record.read': 'see recorded requests',
  'record.create': 'replay a recorded request',
  'record.delete': 'delete recorded requests',
  'metric.read': 'see metrics',
  'metric_key.read': 'see metrics keys',
  'metric_key.create': 'create a metrics key',
  'metric_key.delete': 'delete a metrics key',
  'connection.delete': 'disconnect an agent',
  'billing.read': 'see billing',
  'billing.create': 'buy a plan',
  'billing.change': 'change the plan',
  'alert.read': 'see alert rules',
  'alert.create': 'create an alert rule',
  'alert.change': 'change an alert rule',
  'alert.delete': 'delete an alert rule',
};

function refusalOf(actor: Actor, verb: Verb, thing: Thing): string {
  const words =
    CALLED[`${thing}.${verb}`] ?? `${verb} ${/^[aeiou]/.test(thing) ? 'an' : 'a'} ${thing.replaceAll('_', ' ')}`;
  const lowest = LOWEST_ROLE[`${thing}.${verb}`];
  const why =
    actor.kind === 'user' && lowest !== undefined ? `: your role is ${actor.role}, and this requires ${lowest}` : '';
  return `You can't ${words}${why}. Ask an ${lowest === 'owner' ? 'owner' : 'admin'} of your organization.`;
}

/** Throws `forbidden` unless the actor runs this server: a superadmin, or `culvert admin`. */
export function allowOperator(actor: Actor): asserts actor is UserActor | OperatorActor {
  if (actor.kind === 'operator' || (actor.kind === 'user' && actor.superadmin)) return;
  throw new AppError('forbidden', 'This requires a superadmin. Ask an operator of this server.');
}

/** The same as the audit log's actor for operators. Throws `forbidden` as `allowOperator` does. */
export function asOperator(actor: Actor): OperatorActor {
  allowOperator(actor);
  if (actor.kind === 'operator') return actor;
  const { userId, email, ipAddress } = actor;
  return { kind: 'operator', orgId: null, userId, label: email, ipAddress };
}
