/** Keys of `[tunnels.NAME]` that add access control: as the flags, with underscores. */
import { z } from 'zod';

const listOf = (what: string) =>
  z
    .union([z.string().transform((one) => [one]), z.array(z.string())], {
      error: `must be a text in quotes, or a list: ${what}`,
    })
    .optional();
const fileName = z.string().min(1, 'must be a file name').optional();

export const narrowingKeys = {
  allow_cidr: listOf('["10.0.0.0/8", "192.0.2.7"]'),
  deny_cidr: listOf('["10.0.0.0/8", "192.0.2.7"]'),
  basic_auth: z.string().optional(),
  basic_auth_file: fileName,
  policy: fileName,
  visitor_login: listOf('["example.com", "ann@partner.example"]'),
  ttl: z.string().optional(),
  domain: z.string().min(1).max(253).optional(),
  webhook_verify: z.string().optional(),
  webhook_secret_file: fileName,
  remote_port: z.int().min(1).max(65_535).optional(),
};

const keys = z.object(narrowingKeys);
export type NarrowingSettings = z.output<typeof keys>;
