/** A request as code: curl, fetch, Python, HTTPie. Credentials are left out unless they are asked for. */
import { Modal, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { answered } from '../../../api/client.ts';
import { type ApiContext, useApi, useMay } from '../../../api/context.tsx';
import { CopyLine } from '../../../parts/copy.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import type { Detail } from '../messages.ts';
import { codeFor, type Form } from './copy-as.ts';
import { SecretsSwitch } from './export-dialogs.tsx';

export type CopyForm = 'curl' | Form;

export const COPY_FORMS: ReadonlyArray<{ readonly value: CopyForm; readonly label: string }> = [
  { value: 'curl', label: 'curl' },
  { value: 'fetch', label: 'fetch' },
  { value: 'python', label: 'Python' },
  { value: 'httpie', label: 'HTTPie' },
];

interface CopyDialogProps {
  readonly detail: Detail;
  /** What is shown first; undefined: the dialog is closed. */
  readonly form: CopyForm | undefined;
  readonly onClose: () => void;
}

export function CopyDialog({ detail, form, onClose }: CopyDialogProps) {
  return (
    <Modal opened={form !== undefined} onClose={onClose} title="Copy as code" size="lg">
      {form !== undefined && <Forms detail={detail} first={form} />}
    </Modal>
  );
}

function Forms({ detail, first }: { readonly detail: Detail; readonly first: CopyForm }) {
  const [form, setForm] = useState(first);
  const [isFull, setFull] = useState(false);
  const may = useMay('member');
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Language"
        data={COPY_FORMS.map(({ value, label }) => ({ value, label }))}
        value={form}
        onChange={(next) => setForm(next)}
      />
      <Text size="sm">
        The code calls the public URL, so the tunnel&apos;s policy and access control apply.
        {form !== 'curl' && ' Libraries may tidy up the path; curl sends it as recorded.'}
      </Text>
      {may && <SecretsSwitch checked={isFull} onChange={setFull} />}
      {form === 'curl' ? (
        <Curl id={detail.id} isFull={isFull} />
      ) : (
        <OtherCode detail={detail} form={form} isFull={isFull} />
      )}
    </Stack>
  );
}

function Curl({ id, isFull }: { readonly id: string; readonly isFull: boolean }) {
  const api = useApi();
  const command = useQuery({
    queryKey: ['inspector', id, 'curl', isFull],
    queryFn: ({ signal }) => curlOf(api, id, { isFull, signal }),
    gcTime: 0,
  });
  return (
    <Loaded query={command} lines={2}>
      {(text) => <CopyLine value={text} what="the command" />}
    </Loaded>
  );
}

interface CurlOptions {
  /** With credentials and cookies. */
  readonly isFull: boolean;
  readonly signal?: AbortSignal;
}

/** The command, as the server writes it. */
export async function curlOf({ client }: ApiContext, id: string, { isFull, signal }: CurlOptions): Promise<string> {
  const query = { secrets: isFull ? ('true' as const) : ('false' as const) };
  const text = await answered(
    client.GET('/inspector/{id}/curl', {
      params: { path: { id }, query },
      parseAs: 'text',
      ...(signal !== undefined && { signal }),
    }),
  );
  return text.trim();
}

interface OtherProps {
  readonly detail: Detail;
  readonly form: Form;
  readonly isFull: boolean;
}

function OtherCode({ detail, form, isFull }: OtherProps) {
  const code = useMemo(() => codeFor(form, detail, { secrets: isFull }), [form, detail, isFull]);
  return 'problem' in code ? (
    <Text size="sm" role="status">
      {code.problem}
    </Text>
  ) : (
    <CopyLine value={code.text.trim()} what="the code" />
  );
}
