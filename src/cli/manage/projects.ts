/** `culvert projects`: list, create, rename, delete. */
import { z } from 'zod';
import { confirm } from '../terminal/confirm.ts';
import { apiCommand, printDone, printRows } from '../client/api-command.ts';
import { projectPath } from './token-rows.ts';

const project = z.looseObject({
  slug: z.string(),
  name: z.string(),
  isDefault: z.boolean(),
  createdAt: z.string(),
  tunnels: z.int(),
  tokens: z.int(),
});

const deleted = z.looseObject({ deletedTunnels: z.int(), revokedTokens: z.int() });

export const projectsList = apiCommand(async (asked) => {
  await printRows(asked, project.array().parse(await asked.call('GET', '/projects')), {
    slug: (row) => row.slug,
    name: (row) => row.name,
    tunnels: (row) => String(row.tunnels),
    tokens: (row) => String(row.tokens),
    names: (row) => (row.isDefault ? 'NAME' : `NAME-${row.slug}`),
    since: (row) => row.createdAt.slice(0, 10),
  });
});

export const projectsCreate = apiCommand(async (asked) => {
  const [slug = ''] = asked.args;
  const { name } = asked.flags;
  const answer = await asked.call('POST', '/projects', { slug, name: typeof name === 'string' ? name : slug });
  await printDone(
    asked,
    answer,
    `${slug}: created. Its tunnels are named NAME-${slug}: culvert http 3000 --project ${slug}`,
  );
});

export const projectsRename = apiCommand(async (asked) => {
  const [slug = '', name = ''] = asked.args;
  const answer = await asked.call('PATCH', projectPath(slug), { name });
  await printDone(asked, answer, `${slug}: renamed to ${name}`);
});

export const projectsDelete = apiCommand(async (asked) => {
  const [slug = ''] = asked.args;
  const path = projectPath(slug);
  const found = project.parse(await asked.call('GET', path));
  const lost = `its tunnels (${found.tunnels}) and its keys (${found.tokens})`;
  await confirm(asked.io, asked.flags, `Delete the project ${slug} with ${lost}?`);
  const answer = await asked.call('DELETE', path);
  const { deletedTunnels, revokedTokens } = deleted.parse(answer);
  await printDone(
    asked,
    answer,
    `${slug}: deleted; tunnels deleted: ${deletedTunnels}, keys revoked: ${revokedTokens}`,
  );
});
