/** Asks before a project goes, and says what goes with it. */
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useDeed } from '../../parts/deed.ts';
import { countText } from '../../parts/words.ts';
import { PROJECTS } from './project-query.ts';

interface DeleteProjectProps {
  readonly project: Schemas['Project'];
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DeleteProject({ project, opened, onClose }: DeleteProjectProps) {
  const { client } = useApi();
  const [, go] = useLocation();
  const { slug, name, tunnels, tokens } = project;
  const remove = useDeed({
    run: () => answered(client.DELETE('/projects/{slug}', { params: { path: { slug } } })),
    done: ({ deletedTunnels, revokedTokens }) =>
      `${name} is deleted, with ${counted(deletedTunnels, 'tunnel')} and ${counted(revokedTokens, 'key')}.`,
    touches: [PROJECTS, ['tunnels'], ['tokens']],
    onDone: () => go('/projects'),
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Delete the project ${name}?`}
      deed="Delete project"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={() => {
        remove.reset();
        onClose();
      }}
    >
      Its {counted(tunnels, 'tunnel')} and {counted(tokens, 'live key')} go with it: agents are cut off at once, and the
      names of the tunnels are nobody else&apos;s for 24 hours. This can&apos;t be undone.
    </Confirm>
  );
}

function counted(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? '' : 's'}`;
}
