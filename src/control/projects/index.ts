/** Projects: namespaces of subdomains in an organization, with keys of their own. */
import type { Slice } from '../core/slice.ts';
import { on } from '../db/events.ts';
import { orgCreated, orgForgotten } from '../organizations/events.ts';
import { mountProjects } from './routes.ts';
import { Projects } from './service.ts';

export const projects: Slice<Projects> = {
  name: 'projects',
  service: (core) => new Projects(core),
  routes: mountProjects,
  on: (service) => [
    on(orgCreated, (tx, { orgId }) => service.createDefault(tx, orgId)),
    on(orgForgotten, (tx, { orgIds }) => service.forget(tx, orgIds)),
  ],
};
