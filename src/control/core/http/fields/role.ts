/** Roles of members, as the API names them: each may do what those before it may. */
import { z } from '@hono/zod-openapi';
import { ROLES } from '../../rules/actor.ts';

export const role = z.enum(ROLES);
