/** Asks before a project goes, and says what goes with it. */
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { countText } from '../../parts/format.ts';
import { PROJECTS } from './project-query.ts';

interface DeleteProjectProps {
  readonly project: Schemas['Project'];
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DeleteProject({ project, opened, onClose }: DeleteProjectProps) {
  const { client } = useApi();
  const { slug, name, tunnels, tokens } = project;
  return (
    <DeleteDialog
      what="project"
      name={name}
      opened={opened}
      onClose={onClose}
      run={() => answered(client.DELETE('/projects/{slug}', { params: { path: { slug } } }))}
      done={({ deletedTunnels, revokedTokens }) =>
        `${name} is deleted, with ${counted(deletedTunnels, 'tunnel')} and ${counted(revokedTokens, 'key')}.`
      }
      list="/projects"
      listKey={PROJECTS}
      id={slug}
      touches={[['tunnels'], ['tokens']]}
    >
      Its {counted(tunnels, 'tunnel')} and {counted(tokens, 'live key')} go with it: agents are disconnected at once,
      and the names of the tunnels have a cooldown of 24 hours. This can&apos;t be undone.
    </DeleteDialog>
  );
}

function counted(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? '' : 's'}`;
}
