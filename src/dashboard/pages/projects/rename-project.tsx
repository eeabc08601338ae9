/** Another name for a project. Its slug, and with it public names, stay. */
import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { PROJECTS } from './project-query.ts';

interface RenameProjectProps {
  readonly project: Schemas['Project'];
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function RenameProject({ project, opened, onClose }: RenameProjectProps) {
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
    validate: { name: (name) => (name.trim() === '' ? 'Give the project a name.' : null) },
  });
  const rename = useAction({
    run: (name: string) =>
      answered(client.PATCH('/projects/{slug}', { params: { path: { slug: project.slug } }, body: { name } })),
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
          The slug {project.slug} stays, and so do the names of its tunnels.
        </Text>
        <FormEnd action="Rename" refused={message} isBusy={rename.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
