/** The webhook: its URL, and the secret that signs each batch. The saved secret is never shown. */
import { PasswordInput, Stack, Switch, TextInput } from '@mantine/core';
import type { DestinationProps } from './collector-fields.tsx';
import { keepsSecret } from './export-values.ts';

export function WebhookFields({ form, saved, isFixed }: DestinationProps) {
  const { toWebhook, url } = form.values;
  return (
    <Stack gap="sm">
      <Switch label="Send to a webhook" disabled={isFixed} {...form.getInputProps('toWebhook', { type: 'checkbox' })} />
      {toWebhook && (
        <>
          <TextInput
            label="URL"
            description="A public HTTPS address of your service."
            placeholder="https://siem.example.com/culvert"
            maw={480}
            maxLength={2048}
            autoComplete="off"
            readOnly={isFixed}
            {...form.getInputProps('url')}
          />
          {!isFixed && (
            <PasswordInput
              label="Signing secret"
              description={
                keepsSecret(saved, url)
                  ? 'Leave empty to keep the saved one.'
                  : 'Leave empty: the server creates one and shows it once.'
              }
              placeholder="whsec_…"
              maw={480}
              maxLength={200}
              autoComplete="off"
              visibilityToggleButtonProps={{ 'aria-label': 'Show the signing secret' }}
              {...form.getInputProps('secret')}
            />
          )}
        </>
      )}
    </Stack>
  );
}
