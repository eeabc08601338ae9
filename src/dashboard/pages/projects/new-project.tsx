/** Makes a project. Its slug never changes, so the dialog shows what it does to names. */
import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/form-end.tsx';
import { showFaults } from '../../parts/form-failure.ts';
import { useServerPlace } from '../../parts/server-place.ts';
import { PROJECTS } from './project-query.ts';
import { hostIn, isSlug, SLUG_RULE, slugFrom } from './project-slug.ts';

interface NewProjectProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewProject({ opened, onClose }: NewProjectProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="New project">
      <ProjectForm onClose={onClose} />
    </Modal>
  );
}

function ProjectForm({ onClose }: Pick<NewProjectProps, 'onClose'>) {
  const { client } = useApi();
  const [, go] = useLocation();
  const domain = useServerPlace().data?.edge_domain ?? 'your domain';
  const [message, setMessage] = useState<string>();
  const [isOwnSlug, setOwnSlug] = useState(false);
  const form = useForm({
    initialValues: { name: '', slug: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give the project a name.' : null),
      slug: (slug) => (isSlug(slug) ? null : `A slug has ${SLUG_RULE}.`),
    },
  });
  const make = useAction({
    run: (body: Schemas['NewProject']) => answered(client.POST('/projects', { body })),
    touches: [PROJECTS],
    onDone: ({ slug }) => go(`/projects/${slug}`),
    tellsFailure: true,
  });
  const submit = form.onSubmit(({ name, slug }) => {
    setMessage(undefined);
    make.mutate({ name: name.trim(), slug }, { onError: (error) => setMessage(showFaults(form, error)) });
  });
  const { slug } = form.values;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="Name"
          placeholder="Web shop"
          data-autofocus
          {...form.getInputProps('name')}
          onChange={(event) => {
            const name = event.currentTarget.value;
            form.setFieldValue('name', name);
            if (!isOwnSlug) form.setFieldValue('slug', slugFrom(name));
          }}
        />
        <TextInput
          label="Slug"
          description="Names of its tunnels end with it. It never changes."
          placeholder="web-shop"
          {...form.getInputProps('slug')}
          onChange={(event) => {
            setOwnSlug(true);
            form.setFieldValue('slug', event.currentTarget.value);
          }}
        />
        {isSlug(slug) && (
          <Text size="sm" c="dimmed">
            A tunnel pr-7 of this project is at{' '}
            <span className="culvert-mono">{hostIn({ slug, isDefault: false }, 'pr-7', domain)}</span>
          </Text>
        )}
        <FormEnd action="Create project" refused={message} isBusy={make.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
