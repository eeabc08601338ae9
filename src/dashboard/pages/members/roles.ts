/** The permissions of roles, and which members a role may change. The server decides all the same. Pure. */
import { ROLES, type Role } from '../../api/types.ts';

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  member: 'Member',
  admin: 'Admin',
  owner: 'Owner',
};

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything except visitor credentials.',
  member: 'Creates and changes tunnels, keys, domains, private networks and webhooks.',
  admin: 'Member permissions, plus master keys, disconnecting agents, invitations and roles.',
  owner: 'Admin permissions, plus billing, owners and deleting the organization.',
};

/** A role by its name in the API; one of a newer server counts as the weakest. */
export function roleOf(name: string): Role {
  return ROLES.find((one) => one === name) ?? 'viewer';
}

/** Roles that this role may give, weakest first. */
export function rolesUpTo(mine: Role): readonly Role[] {
  return ROLES.slice(0, ROLES.indexOf(mine) + 1);
}

interface Pair {
  readonly me: Role;
  readonly other: Role;
}

/** Whether I may change the role of such a member, or remove them: admins up to admins, owners all. */
export function mayTouch({ me, other }: Pair): boolean {
  return me === 'owner' || (me === 'admin' && other !== 'owner');
}

interface Seat {
  readonly user_id: string;
  readonly role: string;
}

/** Whether this member is the only owner. */
export function isLastOwner(members: readonly Seat[], userId: string): boolean {
  const owners = members.filter(({ role }) => role === 'owner');
  return owners.length === 1 && owners[0]?.user_id === userId;
}

interface RoleChange {
  readonly from: Role;
  readonly to: Role;
  /** How many keys ended with the former role. */
  readonly revokedKeys: number;
}

/** Whether the former role brings all of it back: revoked keys stay revoked, and so do invitations that admins and owners have sent. */
export function isUndoable({ from, to, revokedKeys }: RoleChange): boolean {
  const isRaised = ROLES.indexOf(to) > ROLES.indexOf(from);
  return revokedKeys === 0 && (isRaised || from === 'member');
}

export const LAST_OWNER =
  'The member is the last owner. Assign the role to another member first, or delete the organization.';

/** Why the user can't invite members. */
export const NOT_APPROVED = 'An operator must approve the organization first.';
