/** Events of projects: handled by owners of what is in a project. */
import { event } from '../db/events.ts';
import type { ProjectRow } from './rows.ts';

/** What goes with a project. */
export interface DeletedProject {
  readonly deletedTunnels: number;
  readonly revokedTokens: number;
}

/** The project is about to be marked as gone. Handlers announce what goes with it; its rows follow (control/core/drains.ts). */
export const projectDeleted = event<ProjectRow, DeletedProject>('projectDeleted', {
  deletedTunnels: 0,
  revokedTokens: 0,
});
