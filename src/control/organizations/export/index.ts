/** What organizations send to collectors and webhooks of their own: requests, audit and security events. */
import type { Slice } from '../../core/slice.ts';
import { on } from '../../db/events.ts';
import { orgDeleted, orgForgotten } from '../events.ts';
import { Exporter } from './exporter.ts';
import { mountExport } from './routes.ts';
import { Exports } from './service.ts';

export interface ExportOptions {
  /** May exports be posted to private addresses (`edge.allow_private_jwks`)? */
  readonly allowPrivateJwks: boolean;
}

export interface ExportServices {
  readonly exports: Exports;
  readonly exporter: Exporter;
}

export const orgExport: Slice<ExportServices, ExportOptions> = {
  name: 'export',
  service: ({ store, sealer, publisher, accessFeed }, _use, { allowPrivateJwks: allowPrivate }) => {
    const postRules = { allowPrivate };
    const exporter = new Exporter({ store, sealer, postRules });
    accessFeed.subscribe((entries) => exporter.take(entries));
    return { exports: new Exports({ store, sealer, exporter, publisher, postRules }), exporter };
  },
  routes: (api, { exports: of }) => mountExport(api, of),
  on: ({ exports: of }) => [
    on(orgDeleted, (tx, { id }) => of.forget(tx, [id])),
    on(orgForgotten, (tx, { orgIds }) => of.forget(tx, orgIds)),
  ],
  jobs: ({ exporter }) => [{ name: 'exports', everyMs: 1_000, run: () => exporter.run() }],
};
