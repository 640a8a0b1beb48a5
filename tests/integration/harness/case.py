"""Test cases that have a server."""

import unittest

import grpc

from harness.client import Client, details_of, error_of
from harness.server import Shoald


class ServerCase(unittest.TestCase):
    """One server and one client for all tests of the class. `OPTIONS` are the server's."""

    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Shoald(*cls.OPTIONS)
        cls.client = Client(cls.server.address)

    @classmethod
    def tearDownClass(cls):
        cls.client.channel.close()
        cls.server.stop()

    def expect_error(self, code, message, call):
        """The call fails with this code, and with this in its message."""
        error = error_of(call)
        self.assertEqual(error.code(), getattr(grpc.StatusCode, code), error.details())
        self.assertIn(message, error.details())
        return error

    def reason_of(self, error):
        return details_of(error)["ErrorInfo"].reason
