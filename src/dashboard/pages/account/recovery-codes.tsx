/** Recovery codes, shown this once. */
import { Alert, Button, CopyButton, Group, List, Stack } from '@mantine/core';
import { IconCheck, IconCopy, IconKey } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { DownloadButton } from '../../parts/download.tsx';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const text = `${codes.join('\n')}\n`;
  const box = useRef<HTMLDivElement>(null);
  // What had the focus before has gone.
  useEffect(() => box.current?.focus(), []);
  return (
    <Stack ref={box} tabIndex={-1} className="culvert-way-step">
      <Alert color="yellow" variant="light" icon={<IconKey size={18} />} role="status">
        Keep these recovery codes where you keep passwords: they can&apos;t be shown again. Each is good once, in the
        place of a code of your app.
      </Alert>
      <List listStyleType="none" className="culvert-account-codes" aria-label="Recovery codes">
        {codes.map((code) => (
          <List.Item key={code} className="culvert-mono">
            {code}
          </List.Item>
        ))}
      </List>
      <Group gap="xs">
        <CopyButton value={text} timeout={2000}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
              onClick={copy}
            >
              {copied ? 'Copied' : 'Copy the codes'}
            </Button>
          )}
        </CopyButton>
        <DownloadButton text={text} name="culvert-recovery-codes.txt">
          Save as a file
        </DownloadButton>
      </Group>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have kept them</Button>
      </Group>
    </Stack>
  );
}
