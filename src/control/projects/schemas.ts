/** Bodies of `/projects`. */
import { z } from '@hono/zod-openapi';
import { iso } from '../core/http/fields/shared.ts';
import { label } from '../core/http/fields/label.ts';
import { someName } from '../core/http/fields/new-account.ts';
import type { ProjectView } from './service.ts';

export const project = z
  .object({
    id: z.uuid(),
    slug: z.string().openapi({ description: 'Never changes. Names in the project end with `-<slug>`.' }),
    name: z.string(),
    isDefault: z.boolean().openapi({ description: "The default project adds no suffix and can't be deleted" }),
    createdAt: z.iso.datetime(),
    tunnels: z.int().openapi({ description: 'Number of tunnels' }),
    tokens: z.int().openapi({ description: 'Number of live keys for this project only' }),
  })
  .openapi('Project', {
    example: {
      id: '019aa3c2-5b74-7f21-9c3d-2b8e6a1d4c03',
      slug: 'shop',
      name: 'Web shop',
      isDefault: false,
      createdAt: '2026-11-21T09:00:00.000Z',
      tunnels: 3,
      tokens: 1,
    },
  });

export const projectList = z.array(project);

export const newProject = z
  .object({ slug: label, name: someName() })
  .openapi('NewProject', { example: { slug: 'shop', name: 'Web shop' } });

export const projectName = z
  .object({ name: someName() })
  .openapi('ProjectName', { example: { name: 'Web shop' }, description: 'Other fields are ignored; the slug stays' });

export const deletedProject = z
  .object({ success: z.literal(true), deletedTunnels: z.int(), revokedTokens: z.int() })
  .openapi('DeletedProject', { example: { success: true, deletedTunnels: 3, revokedTokens: 1 } });

export const slugOf = z.object({ slug: z.string() });

export function view({ row, tunnels, tokens }: ProjectView) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    isDefault: row.isDefault,
    createdAt: iso(row.createdAt),
    tunnels,
    tokens,
  };
}
