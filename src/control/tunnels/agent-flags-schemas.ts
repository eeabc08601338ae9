/** What an agent has set by flags, as the API shows it. */
import { z } from '@hono/zod-openapi';
import type { ShownNarrowing } from '../../plane/narrowing.ts';

const networks = z.array(z.string()).optional();

export const setByAgent = z
  .object({ allow_cidr: networks, deny_cidr: networks })
  .nullable()
  .openapi('SetByAgent', {
    description:
      'Access control that the flags of the online agent add: visitors must pass it and the access control of the tunnel. It ends with the agent. null: none',
    example: { allow_cidr: ['192.0.2.0/24'] },
  });

/** With those that are set, by the names of the flags. */
export function presentSetByAgent(narrowing: ShownNarrowing | undefined): z.input<typeof setByAgent> {
  if (narrowing === undefined) return null;
  const { allow, deny } = narrowing;
  return {
    ...(allow.length === 0 ? {} : { allow_cidr: [...allow] }),
    ...(deny.length === 0 ? {} : { deny_cidr: [...deny] }),
  };
}
