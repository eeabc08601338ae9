/** `[[tunnels.NAME.routes]]`: services by path. cli/agent/routes/routes.ts checks paths and targets together with the flag `--route`. */
import { z } from 'zod';

const route = z.strictObject({
  /** `/api`: this path, and what is below it. */
  path: z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a path in quotes: "/api"') }),
  /** As `target` of a tunnel. */
  target: z.union([z.string(), z.int()], {
    error: ({ input }) => (input === undefined ? 'is missing' : 'must be a port or a text in quotes, as for a tunnel'),
  }),
});

export const routeKeys = {
  routes: z.array(route, { error: 'must be written as [[tunnels.NAME.routes]], each with path and target' }).optional(),
};
