/** Address and password, and the other ways that this server has. */
import { Button, Divider, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconBrandGithub } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import type { Schemas } from '../../api/types.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { EmailField, PasswordField } from './fields.tsx';
import { LinkButton } from './link-button.tsx';
import { Step } from './step.tsx';
import { useStep } from './use-step.ts';
import type { LogIn, Way } from './way.ts';

interface SignInStepProps {
  readonly way: Way;
  readonly title: string;
  readonly problem: string | undefined;
  readonly returnTo: string;
}

export function SignInStep({ way, title, problem: first, returnTo }: SignInStepProps) {
  const { client } = useApi();
  const ways = useQuery({
    queryKey: ['ways-in'],
    queryFn: ({ signal }) => answered(client.GET('/auth/providers', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const form = useForm({
    initialValues: { email: way.email, password: '' },
    onValuesChange: ({ email }) => way.setEmail(email),
  });
  const { onSubmit, problem, isBusy } = useStep({
    form,
    problem: first,
    run: async (body): Promise<LogIn | 'unconfirmed'> => {
      try {
        return await answered(client.POST('/auth/login', { body }));
      } catch (error) {
        if (failureFrom(error).code === 'email_not_verified') return 'unconfirmed';
        throw error;
      }
    },
    onDone: (answer, { password }) =>
      answer === 'unconfirmed' ? way.go({ step: 'confirm', password }) : way.goOn(answer),
  });
  return (
    <Step title={title} order={way.order} problem={problem} onSubmit={onSubmit}>
      <EmailField {...form.getInputProps('email')} />
      <PasswordField name="password" autoComplete="current-password" {...form.getInputProps('password')} />
      <Button type="submit" size="md" loading={isBusy}>
        Sign in
      </Button>
      <Group justify="space-between">
        <LinkButton onClick={() => way.go({ step: 'forgot' })}>Forgot password</LinkButton>
        {ways.data?.signup === 'open' && (
          <LinkButton onClick={() => way.go({ step: 'sign-up' })}>Make an account</LinkButton>
        )}
      </Group>
      {ways.isError && <FailureAlert error={ways.error} again={ways.refetch} />}
      {ways.data !== undefined && ways.data.providers.length > 0 && (
        <Stack gap="xs">
          <Divider label="or" />
          {ways.data.providers.map((provider) => (
            <ProviderButton key={provider.id} provider={provider} returnTo={returnTo} />
          ))}
        </Stack>
      )}
    </Step>
  );
}

interface ProviderButtonProps {
  readonly provider: Schemas['WaysIn']['providers'][number];
  readonly returnTo: string;
}

function ProviderButton({ provider: { id, name, start_url: start }, returnTo }: ProviderButtonProps) {
  const leave = (): void => {
    const target = new URL(start);
    target.searchParams.set('return_to', returnTo);
    location.assign(target);
  };
  return (
    <Button
      variant="default"
      size="md"
      onClick={leave}
      leftSection={id === 'github' ? <IconBrandGithub size={18} /> : undefined}
    >
      {`Sign in with ${name}`}
    </Button>
  );
}
