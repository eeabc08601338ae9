/** Recovery codes, shown this once. In a `OneTimeSecretModal`. */
import { Alert, Button, Group, List } from '@mantine/core';
import { IconCheck, IconCopy, IconKey } from '@tabler/icons-react';
import { useCopy } from '../../parts/clipboard.ts';
import { sayNews } from '../../parts/action.ts';
import { DownloadButton } from '../../parts/download.tsx';
import { OneTimeSecret } from '../../parts/one-time-secret.tsx';

export function RecoveryCodes({ codes }: { readonly codes: readonly string[] }) {
  const text = `${codes.join('\n')}\n`;
  const { isCopied, copy } = useCopy(() => sayNews('The browser copies nothing here. Save the codes as a file.'));
  return (
    <OneTimeSecret label="Recovery codes, shown once">
      <Alert color="yellow" variant="light" icon={<IconKey size={18} />} role="status">
        Keep these recovery codes where you keep passwords. You won&apos;t see them again. Each works once, in place of
        a code of your app.
      </Alert>
      <List listStyleType="none" className="culvert-account-codes" aria-label="Recovery codes">
        {codes.map((code) => (
          <List.Item key={code} className="culvert-mono">
            {code}
          </List.Item>
        ))}
      </List>
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={isCopied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          onClick={() => copy(text)}
        >
          {isCopied ? 'Copied' : 'Copy the codes'}
        </Button>
        <DownloadButton text={text} name="culvert-recovery-codes.txt">
          Save as a file
        </DownloadButton>
      </Group>
    </OneTimeSecret>
  );
}
