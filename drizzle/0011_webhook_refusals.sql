CREATE TABLE `webhook_refusals` (
	`receiver_id` text NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`receiver_id`, `reason`),
	FOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action
);
