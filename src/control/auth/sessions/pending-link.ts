/** An identity that is about to be added to an account, sealed in the challenge of its second factor (challenges.ts). */
import { z } from 'zod';
import type { Sealer } from '../../core/secrets/sealing.ts';

const pendingLink = z.object({
  provider: z.enum(['google', 'github']),
  /** As people know it. */
  providerName: z.string(),
  person: z.object({ issuer: z.string(), subject: z.string(), email: z.string() }),
});

/** An identity that is about to be added. */
export type PendingLink = Readonly<z.output<typeof pendingLink>>;

/** Text for this account alone. */
export function sealLink(sealer: Sealer, userId: string, link: PendingLink): string {
  return sealer.seal(sealPurpose(userId), Buffer.from(JSON.stringify(pendingLink.parse(link))));
}

/** Throws when it was not sealed by this server for this account. */
export function openLink(sealer: Sealer, userId: string, sealed: string): PendingLink {
  return pendingLink.parse(JSON.parse(sealer.open(sealPurpose(userId), sealed).toString()));
}

function sealPurpose(userId: string): string {
  return `identity_links/${userId}`;
}
