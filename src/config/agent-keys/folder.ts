/** Keys of `[tunnels.NAME]` whose target is a folder. cli/agent/files.ts checks them together with the flags of `culvert files`. */
import { z } from 'zod';

export const folderKeys = {
  /** true: a path without a file gets index.html. */
  spa: z.boolean().optional(),
  /** false: a folder without an index.html is not found. */
  listing: z.boolean().optional(),
};
