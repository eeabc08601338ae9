/** Events of organizations: handled by owners of what is in an organization. */
import type { Role, UserActor } from '../core/rules/actor.ts';
import { event } from '../db/events.ts';

/** Its row and its owner are there. */
export const orgCreated = event<{ readonly orgId: string }>('orgCreated');

/** Organizations that were never used are about to lose their rows. Handlers delete theirs. */
export const orgForgotten = event<{ readonly orgIds: readonly string[] }>('orgForgotten');

/** What goes with an organization. */
export interface DeletedOrg {
  readonly revokedTokens: number;
  readonly deletedTunnels: number;
}

/** `by`: the owner who deletes it, in it. */
export interface OrgDeletion {
  readonly id: string;
  readonly name: string;
  readonly by: UserActor;
}

/** The organization is about to be marked as gone. Handlers count and announce what goes with it; its rows follow (core/drains.ts). */
export const orgDeleted = event<OrgDeletion, DeletedOrg>('orgDeleted', { revokedTokens: 0, deletedTunnels: 0 });

/** A member of the organization of `by`. */
export interface ChangedMembership {
  readonly userId: string;
  readonly email: string;
  readonly by: UserActor;
}

/** Removed, or left. Handlers end what the user made in the organization. */
export const memberLeft = event<ChangedMembership, { readonly revokedTokens: number }>('memberLeft', {
  revokedTokens: 0,
});

/** `role`: the new one. Handlers end what it does not allow. */
export const memberRoleChanged = event<ChangedMembership & { readonly role: Role }, { readonly revokedTokens: number }>(
  'memberRoleChanged',
  { revokedTokens: 0 },
);

/** The user has no part in the organization any more: it is gone, or they are. Their sessions go on elsewhere. */
export const orgLeft = event<{ readonly userId: string; readonly orgId: string }>('orgLeft');
