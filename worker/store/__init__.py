"""The content-addressed store of artifacts: `artifacts` says what it promises, `folder` and `s3` keep the promises."""
