/** What each role may do, in words, and who may touch whom. The server decides all the same. Pure: tested without a browser. */
import { ROLES, type Role } from '../../api/types.ts';

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  member: 'Member',
  admin: 'Admin',
  owner: 'Owner',
};

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'Sees everything here but what lets visitors in, and changes nothing.',
  member: 'Opens and changes tunnels, keys, domains, private networks and webhooks.',
  admin: 'As a member; also makes master keys, ends connections of others, invites people and changes their roles.',
  owner: 'As an admin; also buys plans, makes other owners, and can delete the organization.',
};

/** The role of somebody as the API names it; one of a newer server is taken for the weakest. */
export function roleOf(name: string): Role {
  return ROLES.find((one) => one === name) ?? 'viewer';
}

/** Roles that somebody of this role may give, weakest first. */
export function rolesUpTo(mine: Role): readonly Role[] {
  return ROLES.slice(0, ROLES.indexOf(mine) + 1);
}

interface Pair {
  readonly me: Role;
  readonly other: Role;
}

/** May I change the role of such a member, or remove them? Admins touch everybody up to admins, owners everybody. */
export function mayTouch({ me, other }: Pair): boolean {
  return me === 'owner' || (me === 'admin' && other !== 'owner');
}

interface Seat {
  readonly user_id: string;
  readonly role: string;
}

/** Whether nobody would own the organization without this member. */
export function isLastOwner(members: readonly Seat[], userId: string): boolean {
  const owners = members.filter(({ role }) => role === 'owner');
  return owners.length === 1 && owners[0]?.user_id === userId;
}

export const LAST_OWNER = 'This is the last owner. Make somebody else an owner first, or delete the organization.';

/** Why nobody is invited. */
export const NOT_APPROVED = 'The organization has to be approved first.';
