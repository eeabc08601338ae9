/** The ways in: by password for now. */
import { Button, Card, Center, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useDeed } from '../../parts/deed.ts';
import type { Arrival } from '../../place.ts';

export function WaysIn(_: { readonly arrival: Arrival }) {
  const { client, session } = useApi();
  const form = useForm({ initialValues: { email: '', password: '' } });
  const logIn = useDeed({
    run: (body: { email: string; password: string }) => answered(client.POST('/auth/login', { body })),
    onDone: (result) => 'access_token' in result && session.enter(result.access_token),
  });
  return (
    <Center component="main" mih="100vh">
      <Card withBorder w={380}>
        <form onSubmit={form.onSubmit((values) => logIn.mutate(values))}>
          <Stack>
            <Title order={1} size="h3">
              Sign in
            </Title>
            <TextInput label="E-mail address" autoComplete="username" {...form.getInputProps('email')} />
            <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
            <Button type="submit" loading={logIn.isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Card>
    </Center>
  );
}
