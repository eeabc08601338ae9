/** What an agent has set by flags, as the API shows it. */
import { z } from '@hono/zod-openapi';
import type { ShownNarrowing } from '../../plane/narrowing.ts';
import { iso } from '../core/http/fields/shared.ts';

const texts = z.array(z.string()).optional();

export const setByAgent = z
  .object({
    allow_cidr: texts,
    deny_cidr: texts,
    basic_auth: z.string().optional().openapi({ description: 'User name; the password is not shown' }),
    policy: texts.openapi({ description: 'Kinds of the actions of its policy, in their order' }),
    visitor_login: texts.openapi({ description: 'Allowed domains and email addresses' }),
    domain: z.string().optional().openapi({ description: 'Custom domain that the agent named' }),
    remote_port: z.int().optional().openapi({ description: 'Public port that the agent named' }),
    webhook_verify: z.string().optional().openapi({ description: 'Kind of webhook sender; the secrets are not shown' }),
    ends_at: z.iso.datetime().optional().openapi({ description: 'End of `--ttl`' }),
  })
  .nullable()
  .openapi('SetByAgent', {
    description:
      'Access control that the flags of the online agent add: visitors must pass it and the access control of the tunnel. It ends with the agent. null: none',
    example: { allow_cidr: ['192.0.2.0/24'] },
  });

/** With those that are set, by the names of the flags. */
export function presentSetByAgent(narrowing: ShownNarrowing | undefined): z.input<typeof setByAgent> {
  if (narrowing === undefined) return null;
  const { allow, deny, username, policy, visitors, endsAt, domain, remotePort, webhookKind } = narrowing;
  return {
    ...(allow.length === 0 ? {} : { allow_cidr: [...allow] }),
    ...(deny.length === 0 ? {} : { deny_cidr: [...deny] }),
    ...(username === null ? {} : { basic_auth: username }),
    ...(policy === null ? {} : { policy: policy.actions.map(({ kind }) => kind) }),
    ...(visitors === null ? {} : { visitor_login: [...visitors.allowedDomains, ...visitors.allowedEmails] }),
    ...(domain === null ? {} : { domain }),
    ...(remotePort === null ? {} : { remote_port: remotePort }),
    ...(webhookKind === null ? {} : { webhook_verify: webhookKind }),
    ...(endsAt === null ? {} : { ends_at: iso(endsAt) }),
  };
}
