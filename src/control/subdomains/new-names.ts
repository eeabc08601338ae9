/** Labels of tunnels that people create. Those of agents are in claims/service.ts. */
import { AppError } from '../../base/errors.ts';
import { isLabel, fullLabel, NAME_TRIES, randomName, roomIn } from '../core/rules/labels.ts';
import type { Tx } from '../db/tx.ts';
import type { ProjectRow } from '../projects/rows.ts';
import { nameFault } from './free-names.ts';

/** The label, if it is one. @throws AppError (invalid_request) */
export function checkedLabel(label: string, asked: string): string {
  if (isLabel(asked) && isLabel(label)) return label;
  const details = [
    {
      path: 'subdomain',
      message: '1 to 63 characters of a-z, 0-9 and dash, no dash at either end, project suffix included',
    },
  ];
  throw new AppError('invalid_request', `${label} is not a valid subdomain. Use a to z, 0 to 9 and dashes.`, {
    details,
  });
}

/** A random label that is free in the project. @throws AppError (conflict) */
export function freeName(tx: Tx, project: ProjectRow): string {
  if (roomIn(project) === 0) {
    throw new AppError(
      'conflict',
      `The slug of the project ${project.slug} is too long to add a name. Use another project.`,
    );
  }
  for (let i = 0; i < NAME_TRIES; i++) {
    const label = fullLabel(randomName(roomIn(project)), project);
    const owner = { orgId: project.orgId, projectId: project.id };
    if (isLabel(label) && nameFault(tx, label, owner) === undefined) return label;
  }
  throw new AppError('conflict', 'No random name is free. Choose a subdomain.');
}
