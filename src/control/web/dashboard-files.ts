/** The files of the dashboard (scripts/build-dashboard.mjs). Their names say their content, so that browsers may keep them for ever. */
import { z } from 'zod';
import { BuiltFiles, BuiltList } from './built-files.ts';

const List = BuiltList.extend({
  /** Run at once; the other goes on with it. */
  start: z.string(),
  script: z.string(),
  style: z.string(),
  preload: z.array(z.string()),
  /** What the page of an address below `/app` (`/tunnels/:id`) needs besides. Public; `*`: for users who are not logged in. */
  pages: z.array(z.object({ path: z.string(), open: z.boolean(), files: z.array(z.string()) })),
});

export type FileList = z.infer<typeof List>;

export class DashboardFiles extends BuiltFiles<FileList> {
  constructor() {
    super('dashboard', List);
  }
}
