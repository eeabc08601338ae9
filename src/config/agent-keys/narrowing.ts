/** Keys of `[tunnels.NAME]` that add access control: as the flags, with underscores. */
import { z } from 'zod';

const networks = z.union([z.string().transform((one) => [one]), z.array(z.string())], {
  error: 'must be a network in quotes, or a list: ["10.0.0.0/8", "192.0.2.7"]',
});

export const narrowingKeys = {
  allow_cidr: networks.optional(),
  deny_cidr: networks.optional(),
};

const keys = z.object(narrowingKeys);
export type NarrowingSettings = z.output<typeof keys>;
