CREATE TABLE `org_exports` (
	`org_id` text PRIMARY KEY NOT NULL,
	`events` text NOT NULL,
	`otlp_endpoint` text,
	`sealed_headers` text,
	`webhook_url` text,
	`sealed_secret` text,
	`audit_cursor` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
