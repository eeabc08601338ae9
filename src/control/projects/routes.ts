/** `/projects`. */
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { DONE, jsonBody } from '../core/http/fields/shared.ts';
import { deletedProject, newProject, project, projectList, projectName, slugOf, view } from './schemas.ts';
import { MAX_PROJECTS, type Projects } from './service.ts';

const tags = ['projects'];

export function mountProjects(app: Api, projects: Projects): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/projects',
      tags,
      summary: 'List projects: the default one, then the newest',
      responses: { 200: json(projectList, 'Projects') },
    }),
    (c) => c.json(projects.list(actorOf(c)).map(view), 200),
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
        request: { body: jsonBody(newProject) },
        responses: { 201: json(project, 'Created') },
      },
      ['forbidden', 'duplicate_name', 'conflict', 'rate_limited'],
    ),
    (c) => c.json(view(projects.create(actorOf(c), c.req.valid('json'))), 201),
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/projects/{slug}',
      tags,
      summary: 'Get a project',
      request: { params: slugOf },
      responses: { 200: json(project, 'The project') },
    }),
    (c) => c.json(view(projects.get(actorOf(c), c.req.valid('param').slug)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/projects/{slug}',
        'x-needs': 'project.change',
        tags,
        summary: 'Rename a project',
        request: { params: slugOf, body: jsonBody(projectName) },
        responses: { 200: json(project, 'Renamed') },
      },
      ['forbidden'],
    ),
    (c) => c.json(view(projects.rename(actorOf(c), c.req.valid('param').slug, c.req.valid('json').name)), 200),
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
        request: { params: slugOf },
        responses: { 200: json(deletedProject, 'Deleted') },
      },
      ['forbidden', 'invalid_request'],
    ),
    (c) => c.json({ ...DONE, ...projects.delete(actorOf(c), c.req.valid('param').slug) }, 200),
  );
}
