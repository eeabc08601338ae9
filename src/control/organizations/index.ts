/** Organizations, their members and invitations. */
import { lt } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import { forgetRows } from '../core/retention.ts';
import type { Slice } from '../core/slice.ts';
import { invitations } from '../db/schema.ts';
import { drainInvitations } from './invitation-rows.ts';
import { mountInvitations } from './invitations-routes.ts';
import { Invitations } from './invitations.ts';
import { mountMembers } from './members-routes.ts';
import { Members } from './members.ts';
import { mountOrganizations } from './routes.ts';
import { Organizations } from './service.ts';

/** An invitation that was accepted, revoked or has run out is shown to admins for this long. */
const INVITATION_DAYS = 30;

export interface OrganizationServices {
  readonly organizations: Organizations;
  readonly members: Members;
  readonly invitations: Invitations;
}

export const organizations: Slice<OrganizationServices> = {
  name: 'organizations',
  service: ({ store, drains, outbox, emailLimit, instance }) => ({
    organizations: new Organizations({ store, drains, outbox, newOrg: instance.newOrg }),
    members: new Members({ store }),
    invitations: new Invitations({ store, outbox, emailLimit, instance }),
  }),
  routes: (api, services, { publicUrl }) => {
    mountOrganizations(api, services);
    mountMembers(api, services);
    mountInvitations(api, { ...services, publicUrl });
  },
  drains: ({ organizations: of }) => [
    // Members first: their sessions go on elsewhere.
    { kind: 'organization_deleted', drain: (tx, work, limit) => of.drainMembers(tx, work, limit) },
    { kind: 'organization_deleted', drain: drainInvitations },
  ],
  forget: [invitations.acceptedAt, invitations.revokedAt, invitations.expiresAt].map((end) =>
    forgetRows(invitations, invitations.id, (now) => lt(end, now - INVITATION_DAYS * DAY_MS)),
  ),
};
