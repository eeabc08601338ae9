/** `/projects`. */
import { z } from '@hono/zod-openapi';
import { MAX_PROJECTS, type ProjectView } from '../../services/projects/projects.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';
import { label } from '../label.ts';
import { someName } from '../new-account.ts';

const project = z
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

const newProject = z
  .object({ slug: label, name: someName() })
  .openapi('NewProject', { example: { slug: 'shop', name: 'Web shop' } });

const renamed = z
  .object({ name: someName() })
  .openapi('ProjectName', { example: { name: 'Web shop' }, description: 'Other fields are ignored; the slug stays' });

const deleted = z
  .object({ success: z.literal(true), deletedTunnels: z.int(), revokedTokens: z.int() })
  .openapi('DeletedProject', { example: { success: true, deletedTunnels: 3, revokedTokens: 1 } });

const slug = z.object({ slug: z.string() });
const tags = ['projects'];

export function mountProjects(app: Api, { projects }: ApiDeps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/projects',
      tags,
      summary: 'List projects: the default one, then the newest',
      responses: { 200: json(z.array(project), 'Projects') },
    }),
    (c) => c.json(projects.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/projects',
        'x-needs': 'project.create',
        tags,
        summary: 'Create a project',
        description: `At most ${MAX_PROJECTS}. Existing tunnels of other projects whose names end with the slug keep their names.`,
        request: { body: { required: true, content: { 'application/json': { schema: newProject } } } },
        responses: { 201: json(project, 'Created') },
      },
      ['forbidden', 'duplicate_name', 'conflict', 'rate_limited'],
    ),
    (c) => c.json(present(projects.create(actorOf(c), c.req.valid('json'))), 201),
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/projects/{slug}',
      tags,
      summary: 'Get a project',
      request: { params: slug },
      responses: { 200: json(project, 'The project') },
    }),
    (c) => c.json(present(projects.get(actorOf(c), c.req.valid('param').slug)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/projects/{slug}',
        'x-needs': 'project.change',
        tags,
        summary: 'Rename a project',
        request: { params: slug, body: { required: true, content: { 'application/json': { schema: renamed } } } },
        responses: { 200: json(project, 'Renamed') },
      },
      ['forbidden'],
    ),
    (c) => c.json(present(projects.rename(actorOf(c), c.req.valid('param').slug, c.req.valid('json').name)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/projects/{slug}',
        tags,
        summary: 'Delete a project with its tunnels and keys',
        description:
          "Deletes its tunnels and keys, and disconnects their agents. Names have a cooldown of 24 hours. The default project can't be deleted: 400.",
        request: { params: slug },
        responses: { 200: json(deleted, 'Deleted') },
      },
      ['forbidden', 'invalid_request'],
    ),
    (c) => c.json({ success: true as const, ...projects.delete(actorOf(c), c.req.valid('param').slug) }, 200),
  );
}

function present({ row, tunnels, tokens }: ProjectView) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    isDefault: row.isDefault,
    createdAt: new Date(row.createdAt).toISOString(),
    tunnels,
    tokens,
  };
}
