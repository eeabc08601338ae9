/** One project: tunnels and keys, and the dialogs to rename and delete it. */
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { DeleteDialog } from '../../parts/dialogs/delete-dialog.tsx';
import { DetailPage } from '../../parts/detail-page.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { countText } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { undoOf } from '../../parts/undo/undo.ts';
import { useServerPlace } from '../../api/server-place.ts';
import { ProjectKeys, ProjectTunnels } from './project-panels.tsx';
import { AGAIN_MS, PROJECTS } from './project-query.ts';
import { hostIn } from './project-slug.ts';

export function ProjectPage() {
  const { slug } = useParams<{ slug: string }>();
  const { client } = useApi();
  const project = useQuery({
    queryKey: ['projects', slug],
    queryFn: ({ signal }) => answered(client.GET('/projects/{slug}', { params: { path: { slug } }, signal })),
    // The question before its deletion counts what it has now.
    refetchInterval: AGAIN_MS,
  });
  return (
    <DetailPage query={project} title="Project" list="/projects">
      {(found) => <Shown project={found} />}
    </DetailPage>
  );
}

function Shown({ project }: { readonly project: Schemas['Project'] }) {
  const mayChange = useMay('member');
  const domain = useServerPlace().data?.edge_domain ?? 'your domain';
  const [renames, rename] = useDisclosure(false);
  const [deletes, deletion] = useDisclosure(false);
  const { name, slug, isDefault } = project;
  return (
    <Page
      title={name}
      about={
        isDefault
          ? "The default project. Its tunnels have no suffix, and you can't delete it."
          : `A tunnel named pr-7 in this project has the host name ${hostIn(project, 'pr-7', domain)}.`
      }
      actions={
        mayChange && (
          <>
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={rename.open}>
              Rename
            </Button>
            {!isDefault && (
              <Button
                variant="default"
                c="var(--mantine-color-error)"
                leftSection={<IconTrash size={16} />}
                onClick={deletion.open}
              >
                Delete project
              </Button>
            )}
          </>
        )
      }
    >
      <ProjectTunnels project={project} />
      <ProjectKeys slug={slug} />
      <RenameProject project={project} opened={renames} onClose={rename.close} />
      <DeleteProject project={project} opened={deletes} onClose={deletion.close} />
    </Page>
  );
}

interface RenameProjectProps {
  readonly project: Schemas['Project'];
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Another name for a project. Its slug, and with it public names, stay. */
function RenameProject({ project, opened, onClose }: RenameProjectProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Rename the project ${project.name}`}>
      <NameForm project={project} onClose={onClose} />
    </Modal>
  );
}

function NameForm({ project, onClose }: Omit<RenameProjectProps, 'opened'>) {
  const { client } = useApi();
  const [message, setMessage] = useState<string>();
  const form = useForm({
    initialValues: { name: project.name },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name for the project.' : null) },
  });
  const params = { path: { slug: project.slug } };
  const put = (name: string) => answered(client.PATCH('/projects/{slug}', { params, body: { name } }));
  const rename = useAction({
    run: put,
    done: ({ name }) => `Project renamed to ${name}.`,
    undo: (after) =>
      undoOf({
        before: project,
        after,
        fields: ['name'],
        read: () => answered(client.GET('/projects/{slug}', { params })),
        write: () => put(project.name),
      }),
    touches: [PROJECTS],
    onDone: onClose,
    tellsFailure: true,
  });
  const submit = form.onSubmit(({ name }) => {
    setMessage(undefined);
    rename.mutate(name.trim(), { onError: (error) => setMessage(showFaults(form, error)) });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        <Text size="sm" c="dimmed">
          The slug {project.slug} and the names of its tunnels do not change.
        </Text>
        <FormEnd action="Rename" refused={message} isBusy={rename.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

interface DeleteProjectProps {
  readonly project: Schemas['Project'];
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Asks before a project goes, and says what goes with it. */
function DeleteProject({ project, opened, onClose }: DeleteProjectProps) {
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
        `${name} deleted, with ${counted(deletedTunnels, 'tunnel')} and ${counted(revokedTokens, 'key')}.`
      }
      list="/projects"
      listKey={PROJECTS}
      id={slug}
      touches={[['tunnels'], ['tokens']]}
    >
      Its {counted(tunnels, 'tunnel')} and {counted(tokens, 'live key')} are deleted too. Agents are disconnected
      immediately, and the names of the tunnels have a cooldown of 24 hours. You can&apos;t undo this.
    </DeleteDialog>
  );
}

function counted(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? '' : 's'}`;
}
