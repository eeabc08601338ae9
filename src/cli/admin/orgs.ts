/** `culvert admin` about organizations (named by slug or id) and about the server's signing keys. */
import { z } from 'zod';
import { usageError } from '../terminal/exit.ts';
import { type Io, print } from '../terminal/io.ts';
import { operatorCommand, pathOf, printList } from './operator.ts';
import { harmless } from '../terminal/paint.ts';

const PURPOSES = ['access', 'capability'] as const;

const organization = z.looseObject({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  plan: z.string(),
  approval_status: z.string(),
  created_at: z.string(),
  members: z.int(),
  owners: z.array(z.string()),
});

export const listOrgs = operatorCommand((asked) =>
  printList(asked, {
    path: '/superadmin/orgs',
    filter: { query: asked.flags['query'], status: asked.flags['status'] },
    schema: organization,
    cursorOf: (row) => row.id,
    columns: {
      slug: (row) => row.slug,
      name: (row) => row.name,
      plan: (row) => row.plan,
      status: (row) => row.approval_status,
      members: (row) => String(row.members),
      owners: (row) => row.owners.join(', '),
      since: (row) => row.created_at.slice(0, 10),
      id: (row) => row.id,
    },
  }),
);

export const setPlan = operatorCommand(async ({ operator, io, args: [org, plan] }) =>
  printState(io, await operator.call('PATCH', pathOf('orgs', org), { plan })),
);

export const approve = operatorCommand(async ({ operator, io, args: [org] }) =>
  printState(io, await operator.call('POST', pathOf('orgs', org, 'approve'))),
);

export const suspend = operatorCommand(async ({ operator, io, args: [org] }) =>
  printState(io, await operator.call('POST', pathOf('orgs', org, 'suspend'))),
);

/** Both keys, or the one that is named. */
export const rotateKeys = operatorCommand(async ({ operator, io, args: [purpose] }) => {
  const named = PURPOSES.filter((one) => purpose === undefined || one === purpose);
  if (named.length === 0)
    throw usageError(`unknown purpose "${purpose}". Use access or capability, or no argument for both`);
  for (const one of named) {
    const answer = await operator.call('POST', `/superadmin/keys/${one}/rotate`);
    await print(io.stdout, `${one}: new signing key ${z.object({ kid: z.string() }).parse(answer).kid}`);
  }
});

async function printState(io: Io, answer: unknown): Promise<void> {
  const { slug, plan, approval_status: status } = organization.parse(answer);
  await print(io.stdout, harmless(`${slug}: ${status}, plan ${plan}`));
}
